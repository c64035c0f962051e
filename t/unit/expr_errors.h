/* {expression, the whole message} */
{"prev_pid ==", "column 12: expected a field, a number or a text, found the end\n"
		"  prev_pid ==\n"
		"             ^"},
	{"prev_pid = 1", "column 10: '=' is not an operator; == compares\n"
			 "  prev_pid = 1\n"
			 "           ^"},
	{"== 1", "column 1: expected a field, a number or a text, found '=='\n"
		 "  == 1\n"
		 "  ^~"},
	{"prev_pid == == 1", "column 13: expected a field, a number or a text, found '=='\n"
			     "  prev_pid == == 1\n"
			     "              ^~"},
	{"(prev_pid == 1", "column 15: expected an operator or ')', found the end\n"
			   "  (prev_pid == 1\n"
			   "                ^"},
	{"prev_pid == 1)", "column 14: expected an operator, ',' or the end, found ')'\n"
			   "  prev_pid == 1)\n"
			   "               ^"},
	{"prev_pid == 1 prev_prio",
	 "column 15: expected an operator, ',' or the end, found 'prev_prio'\n"
	 "  prev_pid == 1 prev_prio\n"
	 "                ^~~~~~~~~"},
	{"prev_pid == 1 &&", "column 17: expected a field, a number or a text, found the end\n"
			     "  prev_pid == 1 &&\n"
			     "                  ^"},
	{"&& prev_pid", "column 1: expected a field, a number or a text, found '&&'\n"
			"  && prev_pid\n"
			"  ^~"},
	{"prev_pid @ 1", "column 10: this character has no meaning here\n"
			 "  prev_pid @ 1\n"
			 "           ^"},
	{"prev_pid == 12abc",
	 "column 13: not a number, or not a unit of ns us ms s min k M G T Ki Mi Gi Ti\n"
	 "  prev_pid == 12abc\n"
	 "              ^~~~~"},
	{"prev_pid == 0x", "column 13: not a number of that base\n"
			   "  prev_pid == 0x\n"
			   "              ^~"},
	{"prev_pid == 0xfg", "column 13: not a number of that base\n"
			     "  prev_pid == 0xfg\n"
			     "              ^~~~"},
	{"prev_pid == 08", "column 13: not a number of that base\n"
			   "  prev_pid == 08\n"
			   "              ^~"},
	{"prev_pid == 0b12", "column 13: not a number of that base\n"
			     "  prev_pid == 0b12\n"
			     "              ^~~~"},
	{"prev_pid == 99999999999999999999", "column 13: the number does not fit into 64 bits\n"
					     "  prev_pid == 99999999999999999999\n"
					     "              ^~~~~~~~~~~~~~~~~~~~"},
	{"prev_pid == 20000000000s", "column 13: the number does not fit into 64 bits\n"
				     "  prev_pid == 20000000000s\n"
				     "              ^~~~~~~~~~~~"},
	{"prev_pid == 1.5",
	 "column 13: not a whole number; fractions need a unit that makes them whole, such as 1.5ms\n"
	 "  prev_pid == 1.5\n"
	 "              ^~~"},
	{"prev_pid == 1.5k5",
	 "column 13: not a number, or not a unit of ns us ms s min k M G T Ki Mi Gi Ti\n"
	 "  prev_pid == 1.5k5\n"
	 "              ^~~~~"},
	{"prev_pid == 1.0000000001s",
	 "column 13: not a whole number; fractions need a unit that makes them whole, such as 1.5ms\n"
	 "  prev_pid == 1.0000000001s\n"
	 "              ^~~~~~~~~~~~~"},
	{"prev_comm == \"bash", "column 14: the text has no closing \"\n"
				"  prev_comm == \"bash\n"
				"               ^"},
	{"prev_comm == 'bash", "column 14: the text has no closing '\n"
			       "  prev_comm == 'bash\n"
			       "               ^"},
	{"prev_comm =~ \"(\"", "column 14: not a regular expression: Unmatched ( or \\(\n"
			       "  prev_comm =~ \"(\"\n"
			       "               ^~~"},
	{"prev_comm =~ \"[a\"",
	 "column 14: not a regular expression: Unmatched [, [^, [:, [., or [=\n"
	 "  prev_comm =~ \"[a\"\n"
	 "               ^~~~"},
	{"prev_comm =~ 5", "column 14: expected a pattern in quotes, found '5'\n"
			   "  prev_comm =~ 5\n"
			   "               ^"},
	{"prev_comm ~ prev_pid + 1",
	 "column 1: a condition where a value is expected; & | ^ bind less tightly than ==, as in C, and ! more tightly: write parentheses\n"
	 "  prev_comm ~ prev_pid + 1\n"
	 "  ^~~~~~~~~~~~~~~~~~~~"},
	{"prev_pid in", "column 12: expected a field, a number or a text, found the end\n"
			"  prev_pid in\n"
			"             ^"},
	{"prev_pid in ()", "column 14: expected a field, a number or a text, found ')'\n"
			   "  prev_pid in ()\n"
			   "               ^"},
	{"prev_pid in (1,", "column 16: expected a field, a number or a text, found the end\n"
			    "  prev_pid in (1,\n"
			    "                 ^"},
	{"prev_pid in (1 2)", "column 16: expected ',' or ')', found '2'\n"
			      "  prev_pid in (1 2)\n"
			      "                 ^"},
	{"prev_pid not 1", "column 14: expected 'in', found '1'\n"
			   "  prev_pid not 1\n"
			   "               ^"},
	{"prev_pid in (1..)) ", "column 18: expected an operator, ',' or the end, found ')'\n"
				"  prev_pid in (1..)) \n"
				"                   ^"},
	{"prev_pid == 1..5", "column 14: a range is allowed only after in: x in 1..5\n"
			     "  prev_pid == 1..5\n"
			     "               ^~"},
	{"prev_pid & 4 == 4",
	 "column 12: a condition where a value is expected; & | ^ bind less tightly than ==, as in C, and ! more tightly: write parentheses\n"
	 "  prev_pid & 4 == 4\n"
	 "             ^~~~~~"},
	{"!prev_pid == 1",
	 "column 1: a condition where a value is expected; & | ^ bind less tightly than ==, as in C, and ! more tightly: write parentheses\n"
	 "  !prev_pid == 1\n"
	 "  ^~~~~~~~~"},
	{"(prev_pid == 1) + 1",
	 "column 1: a condition where a value is expected; & | ^ bind less tightly than ==, as in C, and ! more tightly: write parentheses\n"
	 "  (prev_pid == 1) + 1\n"
	 "  ^~~~~~~~~~~~~~~"},
	{"1 < prev_pid < 5",
	 "column 1: a condition where a value is expected; & | ^ bind less tightly than ==, as in C, and ! more tightly: write parentheses\n"
	 "  1 < prev_pid < 5\n"
	 "  ^~~~~~~~~~~~"},
	{"-(prev_pid == 1)",
	 "column 2: a condition where a value is expected; & | ^ bind less tightly than ==, as in C, and ! more tightly: write parentheses\n"
	 "  -(prev_pid == 1)\n"
	 "   ^~~~~~~~~~~~~~~"},
	{"cpu & CPUS{", "column 12: expected the number of a CPU, found the end\n"
			"  cpu & CPUS{\n"
			"             ^"},
	{"cpu & CPUS{1,}", "column 14: expected the number of a CPU, found '}'\n"
			   "  cpu & CPUS{1,}\n"
			   "               ^"},
	{"cpu & CPUS{5-2}", "column 14: expected the last CPU of the range, found '2'\n"
			    "  cpu & CPUS{5-2}\n"
			    "               ^"},
	{"cpu & CPUS{9999}", "column 7: no machine has a CPU of that number\n"
			     "  cpu & CPUS{9999}\n"
			     "        ^~~~"},
	{"cpu + CPUS{1}", "column 7: CPUS{} is allowed only after &, == and !=\n"
			  "  cpu + CPUS{1}\n"
			  "        ^~~~~~~"},
	{"CPUS{1}", "column 1: CPUS{} is allowed only after &, == and !=\n"
		    "  CPUS{1}\n"
		    "  ^~~~~~~"},
	{"!CPUS{1}", "column 2: CPUS{} is allowed only after &, == and !=\n"
		     "  !CPUS{1}\n"
		     "   ^~~~~~~"},
	{"sched_switch: prev_pid == 1,",
	 "column 29: expected a field, a number or a text, found the end\n"
	 "  sched_switch: prev_pid == 1,\n"
	 "                              ^"},
	{"nosuch: prev_pid == 1", "column 1: the stream has no event of this name\n"
				  "  nosuch: prev_pid == 1\n"
				  "  ^~~~~~"},
	{"sched/nosuch, kmalloc: ret < 0", "column 1: the stream has no event of this name\n"
					   "  sched/nosuch, kmalloc: ret < 0\n"
					   "  ^~~~~~~~~~~~"},
	{"prev_sate == 0",
	 "column 1: no event of the stream has the field 'prev_sate'; did you mean prev_state?\n"
	 "  prev_sate == 0\n"
	 "  ^~~~~~~~~"},
	{"prev_state == Q",
	 "column 15: no event has the field or the name 'Q', for a value of prev_state\n"
	 "  prev_state == Q\n"
	 "                ^"},
	{"prev_state == S && nxet_pid == 1",
	 "column 20: no event of the stream has the field 'nxet_pid'; did you mean next_pid?\n"
	 "  prev_state == S && nxet_pid == 1\n"
	 "                     ^~~~~~~~"},
	{"bogus == foo", "column 1: no event of the stream has the field 'bogus'\n"
			 "  bogus == foo\n"
			 "  ^~~~~"},
	{"prev_comm == 1 + x_y_z", "column 18: no event of the stream has the field 'x_y_z'\n"
				   "  prev_comm == 1 + x_y_z\n"
				   "                   ^~~~~"},
	{"prev_comm + 1 == 2",
	 "column 1: a number is compared with a text or an array here, in every event that has the fields\n"
	 "  prev_comm + 1 == 2\n"
	 "  ^~~~~~~~~~~~~"},
	{"prev_comm & 1",
	 "column 1: a number is compared with a text or an array here, in every event that has the fields\n"
	 "  prev_comm & 1\n"
	 "  ^~~~~~~~~~~~~"},
	{"prev_pid =~ \"x\"",
	 "column 1: a number is compared with a text or an array here, in every event that has the fields\n"
	 "  prev_pid =~ \"x\"\n"
	 "  ^~~~~~~~~~~~~~~"},
	{"prev_pid == \"x\"",
	 "column 1: a number is compared with a text or an array here, in every event that has the fields\n"
	 "  prev_pid == \"x\"\n"
	 "  ^~~~~~~~~~~~~~~"},
	{"args == 1",
	 "column 1: a number is compared with a text or an array here, in every event that has the fields\n"
	 "  args == 1\n"
	 "  ^~~~~~~~~"},
	{"args[7x] == 1", "column 5: this character has no meaning here\n"
			  "  args[7x] == 1\n"
			  "      ^"},
	{"prev_pid[1] == 1",
	 "column 1: no event of the stream has the field 'prev_pid[1]'; did you mean prev_pid?\n"
	 "  prev_pid[1] == 1\n"
	 "  ^~~~~~~~~~~"},
	{"ret == -ENOSUCH",
	 "column 9: no event has the field or the name 'ENOSUCH', for a value of ret\n"
	 "  ret == -ENOSUCH\n"
	 "          ^~~~~~~"},
	{"prev_pid ==\n  5 x", "line 2, column 5: expected an operator, ',' or the end, found 'x'\n"
			       "    5 x\n"
			       "      ^"},
	{"args[0] == last_func", "column 1: the stream has no name for any value of 'args[0]'\n"
				 "  args[0] == last_func\n"
				 "  ^~~~~~~"},
	{"cgroup.function == x",
	 "column 1: no event of the stream has the field 'cgroup.function'\n"
	 "  cgroup.function == x\n"
	 "  ^~~~~~~~~~~~~~~"},
	{"ret.function == x", "column 1: no event of the stream has the field 'ret.function'\n"
			      "  ret.function == x\n"
			      "  ^~~~~~~~~~~~"},
