// Package hour holds whole organisations against one hour of GitHub: the service as it is wired, in a bubble of time, and a stand-in that
// keeps all of GitHub's limits. It has nothing but tests.
package hour
