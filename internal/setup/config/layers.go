package config

import (
	"slices"
	"time"
)

// projectRule defines the effect of a top-level key in a project's file when the user has a file, too.
type projectRule struct {
	key    string // with dots, such as results.maxBytes
	counts string // when the value applies, for people
	// stricter reports whether the project's value allows less than the user's, isSame whether both are equivalent.
	stricter, isSame func(user, project *Config) bool
	// tighten applies the project's value.
	tighten func(into, project *Config)
	inBox   bool // the key can be set in a toolbox instead
}

// projectRules are the keys with which a project can tighten the user's settings. All other keys, including new ones,
// belong to the user.
var projectRules = append([]projectRule{
	limit("maxMessageSize", "if it is smaller", func(c *Config) *int { return &c.MaxMessageSize }),
	limit("results.maxBytes", "if it is smaller, or the user has none", func(c *Config) *int { return &c.Discovery.MaxResultBytes }),
	timeLimit("timeouts.connect", "for its own toolboxes, if it is shorter", func(c *Config) *time.Duration { return &c.Timeouts.Connect }),
	timeLimit("timeouts.call", "for its own toolboxes, if it is shorter", func(c *Config) *time.Duration { return &c.Timeouts.Call }),
	timeLimit("timeouts.idle", "for its own toolboxes, if it is shorter, or the user has none", func(c *Config) *time.Duration { return &c.Timeouts.Idle }),
	{
		key: "inheritEnv", counts: "for its own toolboxes, if it passes less", inBox: true,
		stricter: func(user, project *Config) bool { return project.InheritEnv.isWithin(user.InheritEnv) },
		isSame: func(user, project *Config) bool {
			return project.InheritEnv.isWithin(user.InheritEnv) && user.InheritEnv.isWithin(project.InheritEnv)
		},
		tighten: func(into, project *Config) { into.InheritEnv = project.InheritEnv },
	},
	{
		key: "policy.rules", counts: "for all toolboxes, yours included, in addition to your rules; those that allow, for its own only",
		stricter: hasPolicy, isSame: hasNoPolicy, tighten: addPolicy,
	},
	{
		key: "policy.default", counts: "for all toolboxes, yours included, if it is stricter",
		stricter: hasPolicy, isSame: hasNoPolicy, tighten: addPolicy,
	},
	{
		key: "policy.classes", counts: "for its own toolboxes",
		stricter: hasPolicy, isSame: hasNoPolicy, tighten: addPolicy,
	},
	{
		key: "locked", counts: "for its own toolboxes, if it is `true`",
		stricter: func(_, project *Config) bool { return project.Locked },
		isSame:   func(user, project *Config) bool { return user.Locked == project.Locked },
		tighten:  func(into, _ *Config) { into.Locked = true },
	},
}, sandboxRules()...)

func hasPolicy(_, project *Config) bool { return len(project.Policy.Files) > 0 }

func hasNoPolicy(_, project *Config) bool { return len(project.Policy.Files) == 0 }

// addPolicy adds the policy of a project, as a whole, to that of the user.
func addPolicy(into, project *Config) {
	if len(into.Policy.Files) > 0 && into.Policy.Files[0].Path == project.Policy.Files[0].Path {
		return // with another of its keys
	}
	own := project.Policy.Files[0]
	own.Own = []string{} // see config
	into.Policy.Files = append([]PolicyFile{own}, into.Policy.Files...)
}

// limit is the rule of a number for which lower is stricter and 0 means no limit.
func limit(key, counts string, of func(*Config) *int) projectRule {
	return projectRule{
		key: key, counts: counts,
		stricter: func(user, project *Config) bool { return isStricter(*of(user), *of(project)) },
		isSame:   func(user, project *Config) bool { return *of(user) == *of(project) },
		tighten:  func(into, project *Config) { *of(into) = *of(project) },
	}
}

func timeLimit(key, counts string, of func(*Config) *time.Duration) projectRule {
	return projectRule{
		key: key, counts: counts, inBox: true,
		stricter: func(user, project *Config) bool { return isStricter(*of(user), *of(project)) },
		isSame:   func(user, project *Config) bool { return *of(user) == *of(project) },
		tighten:  func(into, project *Config) { *of(into) = *of(project) },
	}
}

func isStricter[T int | time.Duration](user, project T) bool {
	return project > 0 && (user <= 0 || project < user)
}

// isWithin reports whether the other inherits everything that this one inherits.
func (i InheritEnv) isWithin(other InheritEnv) bool {
	if other.All {
		return true
	}
	return !i.All && !slices.ContainsFunc(i.Patterns, func(pattern string) bool { return !slices.Contains(other.Patterns, pattern) })
}

// projectSettings returns the settings of a project's toolboxes: the user's, tightened by the project's. It warns about
// everything else that the project sets.
func (b *builder) projectSettings(user, own *Config, root *node) *Config {
	top := *user
	top.Path, top.Files, top.Toolboxes, top.Warnings, top.Secrets, top.Variables = "", nil, nil, nil, nil, nil
	top.Discovery.Pinned = nil
	for i := range root.members {
		m := &root.members[i]
		k := rootObject.key(m.name)
		switch {
		case k == nil || m.name == "$schema" || m.name == "toolboxes": // an unknown key was warned of
		case k.members != nil && m.value.kind == kindObject && !m.value.meansTrue(k):
			for j := range m.value.members {
				if below := &m.value.members[j]; k.members.key(below.name) != nil {
					b.tighten(user, own, &top, below, rootPlace.member(m.raw).member(below.raw))
				}
			}
		default:
			b.tighten(user, own, &top, m, rootPlace.member(m.raw))
		}
	}
	return &top
}

// meansTrue reports whether a value is an object without members, where true would mean the same.
func (n *node) meansTrue(of *key) bool {
	return len(n.members) == 0 && slices.Contains(of.kinds, kindBoolean)
}

// tighten applies one setting of the project, or warns that it has no effect.
func (b *builder) tighten(user, own, top *Config, m *member, p place) {
	hint := "the keys at the top are those of your own " + user.Path + "; a project can add toolboxes, and tighten limits"
	at := slices.IndexFunc(projectRules, func(rule projectRule) bool { return rule.key == p.field.String() })
	if at >= 0 {
		switch rule := projectRules[at]; {
		case rule.isSame(user, own):
			return
		case rule.stricter(user, own):
			rule.tighten(top, own)
			return
		case rule.inBox:
			hint += "; in a toolbox, this key counts"
		}
	}
	b.report.warn(m.offset, p.at, p.describe("of a project's file does not count"), hint)
}

// Join merges a project's configuration with that of its user: the toolboxes of both, the project's first, without
// those of the user whose names the project uses. The project's file must have been read with ParseOptions.User.
func Join(project, user *Config) *Config {
	joined := *project
	joined.Path, joined.Locked, joined.Timeouts, joined.InheritEnv, joined.Sandbox = user.Path, user.Locked, user.Timeouts, user.InheritEnv, user.Sandbox
	joined.Files = slices.Concat(project.Files, user.Files)
	joined.Toolboxes = slices.Clone(project.Toolboxes)
	for _, box := range user.Toolboxes {
		if !project.has(box.Name) {
			joined.Toolboxes = append(joined.Toolboxes, box)
		}
	}
	joined.Policy.Files = slices.Clone(project.Policy.Files)
	for i := range joined.Policy.Files {
		file := &joined.Policy.Files[i]
		for _, box := range user.Toolboxes {
			if file.Own == nil && project.has(box.Name) {
				file.Replaced = append(file.Replaced, box.Name)
			}
		}
	}
	joined.Discovery.Pinned = nil
	for _, ref := range user.Discovery.Pinned {
		if !project.has(ref.Toolbox) { // the user pinned a tool of another toolbox than the project's
			joined.Discovery.Pinned = append(joined.Discovery.Pinned, ref)
		}
	}
	joined.Warnings = slices.Concat(project.inFile(project.Warnings), user.inFile(user.WarningsBeside(project)))
	joined.Secrets = joinedSecrets(project, user)
	joined.Variables = joinedNames(project.Variables, user.Variables)
	joined.OuterVariables = joinedNames(project.OuterVariables, user.OuterVariables)
	return &joined
}

func joinedNames(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

// ProjectPath returns the path of the project's file that is merged with the user's; "" for a configuration of one
// file.
func (c *Config) ProjectPath() string {
	if len(c.Files) < 2 {
		return ""
	}
	return c.Files[0].Path
}

func (c *Config) has(name string) bool {
	return slices.ContainsFunc(c.Toolboxes, func(box Toolbox) bool { return box.Name == name })
}

// inFile returns the problems with the name of their file, needed once there are two.
func (c *Config) inFile(problems []Problem) []Problem {
	located := slices.Clone(problems)
	for i := range located {
		if located[i].Line > 0 {
			located[i].File = c.Files[0].Path
		}
	}
	return located
}

// joinedSecrets returns the secrets of both, except names of either.
func joinedSecrets(project, user *Config) []string {
	found, names := &secrets{}, map[string]bool{}
	for _, cfg := range []*Config{project, user} {
		for _, value := range cfg.Secrets {
			found.addValue(value)
		}
		for _, box := range cfg.Toolboxes {
			names[box.Name] = true
			for _, server := range box.Servers {
				names[server.Name] = true
			}
		}
	}
	return found.list(names)
}
