// Empty, so that bolt.go may declare a function that has its body elsewhere.
