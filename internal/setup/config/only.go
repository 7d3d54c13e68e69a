package config

// Only returns a configuration with a single server in direct mode: a client sees the server unchanged.
func (c *Config) Only(box Toolbox, server Server) *Config {
	narrowed := *c
	server.Disabled = false
	narrowed.ToolMode, narrowed.Prefetch, narrowed.Discovery = Direct, false, Discovery{}
	narrowed.Toolboxes = []Toolbox{{Name: box.Name, File: box.File, Servers: []Server{server}}}
	return &narrowed
}
