// Package browser runs a hostile page in a real browser against a workbench that listens
// over HTTP: nothing that the page does starts a server or gets an answer.
package browser
