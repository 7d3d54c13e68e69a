
showRecording(document.getElementById("recording"), document.getElementById("messages").textContent);
