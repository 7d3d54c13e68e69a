package sandbox

import "path/filepath"

// cacheFolder is a variable that names a folder in which programs keep what they downloaded.
type cacheFolder struct{ variable, folder string }

// cacheFolders are the folders of those who run packages. All of them are private to the server: what it writes into a
// cache that others use, these would execute outside of the sandbox. They are set for every program, since one that is
// called by another name may start them.
var cacheFolders = []cacheFolder{
	{"XDG_CACHE_HOME", "cache"},

	{"npm_config_cache", "npm"},
	{"pnpm_config_store_dir", "pnpm"},
	{"YARN_CACHE_FOLDER", "yarn"},
	{"COREPACK_HOME", "corepack"},

	{"UV_CACHE_DIR", "uv"},
	{"UV_TOOL_DIR", "uv-tools"},
	{"UV_TOOL_BIN_DIR", "uv-bin"},
	{"UV_PYTHON_INSTALL_DIR", "uv-python"},
	{"UV_PYTHON_BIN_DIR", "uv-bin"},
	{"PIP_CACHE_DIR", "pip"},
	{"PIPX_HOME", "pipx"},
	{"PIPX_BIN_DIR", "pipx-bin"},
	{"PIPX_MAN_DIR", "pipx-man"},
	{"PYTHONPYCACHEPREFIX", "pycache"},

	{"DENO_DIR", "deno"},
	{"BUN_INSTALL_CACHE_DIR", "bun"},
}

// offline are the variables that keep package runners from waiting for a network that they do not have. What an earlier start
// with a network has brought into their caches is used.
var offline = []string{"npm_config_offline", "UV_OFFLINE", "PIP_NO_INDEX"}

// applyPresets gives the programs that run packages a cache of their own.
func applyPresets(env *environment, cache string, network bool) {
	if !network {
		for _, variable := range offline {
			env.set(variable, "true")
		}
	}
	for _, c := range cacheFolders {
		env.setFolder(c.variable, filepath.Join(cache, c.folder))
	}
	env.set("npm_config_update_notifier", "false") // it would tell of updates of npm on stderr
}
