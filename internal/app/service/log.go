package service

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// NewLogger makes the log on stderr, at the given level or else that of the configuration. Its lines do not break into
// questions to a person.
func NewLogger(name string, cfg *config.Config, stderr io.Writer) (*slog.Logger, error) {
	if name == "" {
		name = cfg.LogLevel
	}
	if name == "" {
		name = "warn"
	}
	var level slog.Level
	switch strings.ToLower(name) {
	case "debug", "info", "warn", "error":
		if err := level.UnmarshalText([]byte(name)); err != nil {
			return nil, err
		}
	default:
		return nil, &toolbox.Error{
			Code:    toolbox.Usage,
			Message: fmt.Sprintf("unknown log level '%s'", name),
			Hint:    "The levels are debug, info, warn and error.",
		}
	}
	return slog.New(slog.NewTextHandler(tty.Behind(stderr), &slog.HandlerOptions{Level: level})), nil
}
