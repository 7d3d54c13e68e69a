// Package idp logs in to a protected MCP server at an identity provider that others wrote, oidc-provider of npm, with
// the real program: registration, consent, calls, refresh with rotation, reuse, DPoP and logout.
package idp
