// Package page drives the page of a running workbench in a real browser, with a client and servers from npm: every view
// and every action, in a session as a person has it. It also makes the screenshots of docs/page.md.
package page
