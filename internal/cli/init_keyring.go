package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/mcp-workbench/mcp-workbench/internal/access/keyring"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/importer"
)

// askKeyring offers the system's keyring for the secrets of a plan, where there is one. Otherwise all go to workbench.env.
func askKeyring(ctx context.Context, screen *tty.Screen, plan *importer.Plan) error {
	hasKeyring := keyring.Absence(os.Getenv) == nil
	if len(plan.Variables) == 0 || !hasKeyring {
		return nil
	}
	what := toolbox.Count(len(plan.Variables), "secret", "secrets")
	agreed, err := screen.Confirm(ctx, "Keep "+what+" in the system's keyring instead of workbench.env?", false)
	if err != nil || !agreed {
		return err
	}
	var unusable error
	plan.MoveToKeyring(func(name, value string) bool {
		if unusable != nil {
			return false
		}
		known, err := keyring.Get(name)
		if errors.Is(err, keyring.ErrNotFound) {
			return true
		}
		unusable = err
		return err == nil && known == value // a name with another value is somebody else's
	})
	if unusable != nil {
		fmt.Fprintf(screen, "%s The system's keyring cannot be used: %v. The secrets go to workbench.env.\n", screen.Paint(tty.Caution, "!"), unusable)
	} else if len(plan.Variables) > 0 {
		fmt.Fprintf(screen, "%s %s to workbench.env: the keyring has other ones of that name, or they stand where only a variable can.\n",
			screen.Paint(tty.Caution, "!"), toolbox.Count(len(plan.Variables), "secret goes", "secrets go"))
	}
	return nil
}

// keepInKeyring puts secrets into the keyring.
func keepInKeyring(ctx context.Context, secrets []configwrite.Variable) error {
	if len(secrets) == 0 {
		return nil
	}
	book, err := openSecrets()
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		if _, err := book.Set(ctx, secret.Name, secret.Value); err != nil {
			return secretsUnusable(err)
		}
	}
	return nil
}

// showKept reports what was put into the keyring.
func showKept(screen *tty.Screen, secrets []configwrite.Variable) {
	if len(secrets) > 0 {
		fmt.Fprintf(screen, "%s %s in the system's keyring: mcp-workbench secret list\n", screen.Paint(tty.Good, "✓"), toolbox.Count(len(secrets), "secret is", "secrets are"))
	}
}
