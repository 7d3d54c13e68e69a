// Package oauth signs in to remote servers: it finds the authorization server of a server, registers a client there,
// lets a person log in, and keeps the tokens of the login fresh.
//
// Everything that a server or an authorization server sends is foreign: addresses are fetched through a webclient.Guard,
// documents are bounded, and texts are cleaned before a person sees them.
package oauth
