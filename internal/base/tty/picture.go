package tty

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	_ "image/gif" // what can be made a PNG of
	_ "image/jpeg"
	"image/png"
	"strings"
)

// pictureProtocol is how a terminal takes pictures.
type pictureProtocol int

const (
	noPictures pictureProtocol = iota
	kittyPictures
	itermPictures // also of WezTerm
)

// picturesOf tells the protocol by what terminals say of themselves. Inside of tmux and
// screen, which draw themselves, pictures would not stay where they are.
func picturesOf(getenv func(string) string) pictureProtocol {
	switch {
	case getenv("TMUX") != "" || getenv("STY") != "":
		return noPictures
	case getenv("TERM_PROGRAM") == "iTerm.app", getenv("TERM_PROGRAM") == "WezTerm", getenv("LC_TERMINAL") == "iTerm2":
		return itermPictures
	case getenv("KITTY_WINDOW_ID") != "", getenv("TERM") == "xterm-kitty", getenv("TERM_PROGRAM") == "ghostty":
		return kittyPictures
	}
	return noPictures
}

// Limits of a picture that is shown.
const (
	maxPicture   = 16 << 20   // size of a picture that is shown; a larger one is only saved
	maxPixels    = 16_777_216 // pixels of a picture that is shown; a larger one is only saved
	pictureChunk = 4096       // base64 characters of one sequence, as the protocol demands
)

// Picture shows an image if the terminal supports its format, and reports whether it did.
func (s *Screen) Picture(data []byte, name string) bool {
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || s.pictures == noPictures || len(data) > maxPicture || size.Width*size.Height > maxPixels {
		return false
	}
	if s.pictures == itermPictures {
		fmt.Fprintf(s, "\x1b]1337;File=inline=1;size=%d;name=%s:%s\a\n", len(data),
			base64.StdEncoding.EncodeToString([]byte(name)), base64.StdEncoding.EncodeToString(data))
		return true
	}
	if format != "png" {
		picture, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			return false
		}
		var converted bytes.Buffer
		if png.Encode(&converted, picture) != nil {
			return false
		}
		data = converted.Bytes()
	}
	fmt.Fprintln(s, kittySequence(base64.StdEncoding.EncodeToString(data)))
	return true
}

// kittySequence transmits a PNG in chunks, and has it displayed.
func kittySequence(encoded string) string {
	var out strings.Builder
	for first := true; first || encoded != ""; first = false {
		chunk := encoded[:min(pictureChunk, len(encoded))]
		encoded = encoded[len(chunk):]
		more := 0
		if encoded != "" {
			more = 1
		}
		if first {
			fmt.Fprintf(&out, "\x1b_Ga=T,f=100,q=2,m=%d;%s\x1b\\", more, chunk)
		} else {
			fmt.Fprintf(&out, "\x1b_Gm=%d;%s\x1b\\", more, chunk)
		}
	}
	return out.String()
}
