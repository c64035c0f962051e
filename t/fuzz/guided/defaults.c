/*
 * What the fuzz entries have when a fuzzer runs them: settings of the sanitizers, which the
 * environment (ASAN_OPTIONS and so on) overrules.
 */

const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

/* Memory that is freed is soon used again: else most of the time goes to new pages. */
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=4:thread_local_quarantine_size_kb=64:malloc_context_size=12:"
	       "allocator_may_return_null=1:detect_stack_use_after_return=0";
}

/*
 * elf_end() of some damaged files leaves the bytes of .shstrtab; libtraceevent's parser leaves
 * parts of a damaged format. Handles that we forget are still reported: more hangs on them.
 */
const char *__lsan_default_suppressions(void)
{
	return "leak:libelf.so\nleak:libtraceevent.so\n";
}
