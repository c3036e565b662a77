package oncehttp

// OpenBolt lets tests outside the package open a journal.
var OpenBolt = openBolt
