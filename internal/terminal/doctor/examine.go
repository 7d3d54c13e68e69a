package doctor

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

const (
	// atOnce is the number of servers started concurrently: some download themselves first, and many at once could
	// exceed the time limit of each.
	atOnce = 8
	// progressInterval is the interval at which the progress of a start is shown.
	progressInterval = 100 * time.Millisecond
	// maxStderr is the number of lines shown of a failed server's stderr.
	maxStderr = 10
)

// Examiner starts servers in a workbench and observes each step.
type Examiner struct {
	Logins Logins // nil: logins are not examined

	workbench *app.App
	config    *config.Config
	masker    *secret.Masker
	shell     *loginShell
	home      string
}

// NewExaminer makes an examiner for a workbench with that configuration and environment.
func NewExaminer(workbench *app.App, cfg *config.Config, environ []string) *Examiner {
	return &Examiner{
		workbench: workbench, config: cfg, masker: secret.NewMasker(cfg.Secrets),
		shell: newLoginShell(environ), home: variable(environ, "HOME"),
	}
}

// mask masks the secrets of the configuration, and those that servers were started with.
func (e *Examiner) mask(text string) string { return e.workbench.Mask(e.masker.Mask(text)) }

// Examine examines all patients and returns the results in their order. It calls show with the index of a patient on
// each change, and a last time when it is done; calls for several patients are concurrent.
func (e *Examiner) Examine(ctx context.Context, patients []Patient, show func(i int, server Server, done bool)) []Server {
	// Same capabilities as in the commands that list and call tools, so that the results agree.
	profile := app.NewOnlooker(app.ByPerson)
	defer profile.Close()
	found := make([]Server, len(patients))
	slots := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for i := range patients {
		show(i, newServer(&patients[i]), false)
	}
	for i := range patients {
		patient := &patients[i]
		work.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			found[i] = e.examine(ctx, patient, profile, func(server Server) { show(i, server, false) })
			show(i, found[i], true)
		})
	}
	work.Wait()
	return found
}

// newServer returns what is known about a patient before its examination.
func newServer(patient *Patient) Server {
	return Server{Toolbox: patient.Toolbox, Name: patient.Config.Name, Verdict: Skipped, Steps: []Step{}}
}

func (e *Examiner) examine(ctx context.Context, patient *Patient, profile *fleet.ClientProfile, show func(Server)) Server {
	found := newServer(patient)
	if patient.Config.Disabled || ctx.Err() != nil {
		return found
	}
	if fault := patient.Config.Fault; fault != nil {
		found.Verdict, found.Error, found.Fix, found.faulty = Failed, places(fault), hints(fault), true
		return found
	}
	if patient.Config.SignsIn() && patient.Config.HasOwnAccounts() { // nothing is sent to it but for a person who has signed in
		found.Login = &Login{State: perPerson}
		return found
	}
	server, ok := e.workbench.Server(patient.Toolbox, patient.Config.Name)
	if !ok { // the workbench has the same configuration as the patients
		found.Verdict, found.Error = Failed, "the workbench does not know it"
		return found
	}
	server = server.For(profile)
	lease, err := e.await(ctx, server, func(status fleet.Status) {
		found.Steps = stepsOf(status.Steps)
		show(found)
	})
	status := server.Status()
	found.Steps = stepsOf(status.Steps)
	for _, step := range found.Steps {
		found.Took += step.Took
	}
	if err != nil {
		found.Verdict, found.Error = Failed, e.mask(reason(err))
		found.nameToken(err)
		found.Stderr = status.Stderr[max(0, len(status.Stderr)-maxStderr):]
		found.Login = e.login(ctx, patient, err)
		found.Fix = e.mask(e.fix(ctx, patient, err, &found))
		return found
	}
	defer lease.Release()
	found.Login = e.login(ctx, patient, nil)
	offered := lease.Tools.For(profile.Caller())
	found.Verdict, found.Tools, found.Denied = Fine, len(offered.Tools), len(offered.Denied)
	found.Software, found.Revision = status.Software, status.Revision
	for _, warning := range offered.Warnings {
		found.Warnings = append(found.Warnings, e.mask(warning))
	}
	for _, denial := range server.Denials() {
		found.Warnings = append(found.Warnings, e.mask(denial))
	}
	found.Note = e.desktopNote(patient, found.Steps)
	return found
}

// await waits for the start of a server and reports its progress.
func (e *Examiner) await(ctx context.Context, server *fleet.Server, observe func(fleet.Status)) (*fleet.Lease, error) {
	var lease *fleet.Lease
	var err error
	done := make(chan struct{})
	go func() { // ends with the start, which is bounded, or with ctx
		defer close(done)
		lease, err = server.Lease(ctx)
	}()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return lease, err
		case <-ticker.C:
			observe(server.Status())
		}
	}
}

// reason returns why a start failed, without the parts that are shown separately.
func reason(err error) string {
	if kept := storeProblem(err); kept != nil {
		return kept.Message // the hint is the advice
	}
	if failure, ok := errors.AsType[*fleet.Failure](err); ok && failure.Error() == err.Error() {
		return failure.Reason()
	}
	return err.Error()
}

// desktopNote warns about a command that is found here, but perhaps not by a workbench started from a desktop, which
// did not read the files of a shell.
func (e *Examiner) desktopNote(patient *Patient, steps []Step) string {
	command := patient.Config.Command
	if command == "" || filepath.Base(command) != command || len(steps) == 0 || e.home == "" || patient.setsPath() {
		return ""
	}
	folder := filepath.Dir(steps[0].Detail)
	if inside, err := filepath.Rel(e.home, folder); err != nil || !filepath.IsLocal(inside) {
		return ""
	}
	return "a client that is started from the desktop may not have " + folder + " on its PATH; if the server fails there, " +
		addPath(folder)
}
