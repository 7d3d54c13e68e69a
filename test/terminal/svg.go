package terminal

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

// Frame is what the terminal showed for a while.
type Frame struct {
	Screen string // with colours
	For    time.Duration
}

// Sizes of the drawing, in pixels.
const (
	charWidth  = 7.8
	lineHeight = 17
	margin     = 12
	fontSize   = 13
)

var palette = map[string]string{
	"30": "#3b4252", "31": "#e06c75", "32": "#98c379", "33": "#e5c07b", "34": "#61afef", "35": "#c678dd", "36": "#56b6c2", "37": "#dcdfe4",
}

// Draw makes an animated picture of the frames, which plays again and again.
func Draw(width, height int, frames []Frame) string {
	var total time.Duration
	for _, frame := range frames {
		total += frame.For
	}
	pixelsWide, pixelsHigh := float64(width)*charWidth+2*margin, height*lineHeight+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d">`+"\n", pixelsWide, pixelsHigh, pixelsWide, pixelsHigh)
	fmt.Fprintf(&out, `<style>text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:%dpx;fill:#dcdfe4;white-space:pre}g{visibility:hidden}`, fontSize)
	var began time.Duration
	for i, frame := range frames {
		from, to := 100*float64(began)/float64(total), 100*float64(began+frame.For)/float64(total)
		began += frame.For
		fmt.Fprintf(&out, "@keyframes f%d{0%%{visibility:hidden}%.3f%%{visibility:visible}%.3f%%{visibility:hidden}100%%{visibility:hidden}}"+
			"#f%d{animation:f%d %.2fs step-end infinite}", i, from, to, i, i, total.Seconds())
	}
	fmt.Fprintf(&out, "</style>\n"+`<rect width="100%%" height="100%%" rx="8" fill="#21252b"/>`+"\n")
	for i, frame := range frames {
		fmt.Fprintf(&out, `<g id="f%d">`, i)
		style := "" // goes on from line to line
		for n, line := range strings.Split(strings.TrimRight(frame.Screen, "\n "), "\n") {
			var text string
			if text, style = spans(line, style); text != "" {
				fmt.Fprintf(&out, `<text x="%d" y="%d">%s</text>`, margin, margin+(n+1)*lineHeight-4, text)
			}
		}
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// spans turns a line with escape sequences of colours into parts with styles; it begins in
// one style, and returns that at its end.
func spans(line, style string) (parts, last string) {
	var out strings.Builder
	for {
		text, rest, found := strings.Cut(line, "\x1b[")
		if text != "" {
			if style == "" {
				out.WriteString("<tspan>" + html.EscapeString(text) + "</tspan>")
			} else {
				out.WriteString(`<tspan style="` + style + `">` + html.EscapeString(text) + "</tspan>")
			}
		}
		if !found {
			return out.String(), style
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
		if end < 0 {
			return out.String(), style
		}
		if rest[end] == 'm' {
			style = restyle(style, rest[:end])
		}
		line = rest[end+1:]
	}
}

func restyle(style, codes string) string {
	for code := range strings.SplitSeq(codes, ";") {
		if n, _ := strconv.Atoi(code); n >= 90 && n <= 97 {
			code = strconv.Itoa(n - 60)
		}
		switch colour := palette[code]; {
		case code == "" || code == "0":
			style = ""
		case code == "1":
			style += "font-weight:bold;"
		case code == "2":
			style += "opacity:.6;"
		case colour != "":
			style += "fill:" + colour + ";"
		}
	}
	return style
}
