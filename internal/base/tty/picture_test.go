package tty

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPicturesOf(t *testing.T) {
	for _, test := range []struct {
		name string
		env  map[string]string
		want pictureProtocol
	}{
		{"kitty", map[string]string{"KITTY_WINDOW_ID": "1", "TERM": "xterm-kitty"}, kittyPictures},
		{"iTerm2", map[string]string{"TERM_PROGRAM": "iTerm.app"}, itermPictures},
		{"iTerm2 over ssh", map[string]string{"LC_TERMINAL": "iTerm2"}, itermPictures},
		{"WezTerm", map[string]string{"TERM_PROGRAM": "WezTerm"}, itermPictures},
		{"tmux in kitty", map[string]string{"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/tmux"}, noPictures},
		{"any other", map[string]string{"TERM": "xterm-256color"}, noPictures},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := picturesOf(func(name string) string { return test.env[name] }); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

// noise is a picture that does not fit one sequence.
func noise() image.Image {
	picture := image.NewRGBA(image.Rect(0, 0, 64, 64))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range picture.Pix {
		picture.Pix[i] = byte(random.IntN(256))
	}
	picture.Set(0, 0, color.Black)
	return picture
}

func TestPictureInKitty(t *testing.T) {
	var asPNG, asJPEG bytes.Buffer
	if err := png.Encode(&asPNG, noise()); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, noise(), nil); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"png": asPNG.Bytes(), "jpeg": asJPEG.Bytes()} {
		s, out := screen("")
		s.pictures = kittyPictures
		if !s.Picture(data, "x") {
			t.Fatalf("%s was not shown", name)
		}
		var encoded strings.Builder
		sequences := strings.Split(strings.TrimSuffix(out.String(), "\x1b\\\n"), "\x1b\\")
		for i, sequence := range sequences {
			keys, chunk, _ := strings.Cut(strings.TrimPrefix(sequence, "\x1b_G"), ";")
			if last := i == len(sequences)-1; strings.HasSuffix(keys, "m=0") != last || len(chunk) > pictureChunk {
				t.Errorf("%s: sequence %d of %d has keys %s and %d characters", name, i, len(sequences), keys, len(chunk))
			}
			encoded.WriteString(chunk)
		}
		decoded, err := base64.StdEncoding.DecodeString(encoded.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(decoded)); err != nil || len(sequences) < 2 {
			t.Errorf("%s: %d sequences: %v", name, len(sequences), err)
		}
	}
}

func TestPictureInITerm(t *testing.T) {
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	s, out := screen("")
	s.pictures = itermPictures
	if !s.Picture(data.Bytes(), "dot.png") || !strings.HasPrefix(out.String(), "\x1b]1337;File=inline=1;size=") ||
		!strings.Contains(out.String(), "name=ZG90LnBuZw==:"+base64.StdEncoding.EncodeToString(data.Bytes())+"\a") {
		t.Errorf("wrote %q", out)
	}
}

func TestPictureIsNotShown(t *testing.T) {
	s, out := screen("")
	var data bytes.Buffer
	if err := png.Encode(&data, noise()); err != nil {
		t.Fatal(err)
	}
	if s.Picture(data.Bytes(), "x") {
		t.Error("shown where there are no pictures")
	}
	s.pictures = kittyPictures
	if s.Picture([]byte("\x1b[2Jno picture"), "x") {
		t.Error("shown, although it is none")
	}
	if out.Len() > 0 {
		t.Errorf("wrote %q", out)
	}
}
