// Package team runs a team: an identity provider that others wrote (oidc-provider of npm) with two people, the real
// workbench that serves them, the official TypeScript client that signs in by itself, and servers that are shared, of one
// person each, or protected by a provider of their own. One of the servers records all that it is sent: no token of a
// person may reach it. Tokens that are wrong in every known way are tried too.
package team
