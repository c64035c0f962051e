/* {expression, the whole message} */
{"prev_pid ==", "column 12: expected a field, a number or a text, found the end\n"
		"  prev_pid ==\n"
		"             ^"},
	{"prev_pid = 1", "column 10: '=' is no operator; == compares\n"
			 "  prev_pid = 1\n"
			 "           ^"},
