/* SPDX-License-Identifier: Apache-2.0 */
/* The text for a device, from small files whose expected paste is written out beside them. */
#include "test.h"

#include "device/source.h"

#include <string.h>

struct pasted {
    struct arena arena;
    struct errors errors;
    struct device_source source;
};

static void open(struct pasted *pasted, const struct embedded_file *files)
{
    *pasted = (struct pasted){.errors = {.arena = &pasted->arena}};
    pasted->source = (struct device_source){.files = files, .errors = &pasted->errors};
}

static void close(struct pasted *pasted)
{
    source_release(&pasted->source);
    arena_release(&pasted->arena);
}

static const struct embedded_file tree[] = {
    {"src/a.h", "#pragma once\n#include \"flitwarp/b.h\"\n#include \"c/d.h\"\nint a;\n", 0},
    {"include/flitwarp/b.h", "  #  pragma  once\nint b;", 0}, /* no line end at its own end */
    {"src/c/d.h", "#include \"flitwarp/b.h\"\n#include \"base/absent.h\"\n#include <string.h>\nint d;\n", 0},
    {"src/again.h", "#include \"a.h\"\n#pragma unroll\nint again;\n", 0},
    {"src/host.h",
     "#if FW_HOST\n#include \"c/d.h\"\n#ifdef X\nint host;\n#else\nint host_too;\n#endif\n#else /* the device */\n"
     "int device;\n#endif\n#if !FW_HOST\nint only;\n#else\nint not;\n#endif\n#include \"c/d.h\"\n",
     0},
    {"src/other.h", "#if FW_HOST || Y\nint both;\n#elif Z\nint z;\n#endif\n#ifndef FW_HOST\nint n;\n#endif\n", 0},
    {0},
};

TEST(device_source_has_each_file_once_where_it_is_first_included)
{
    struct pasted pasted;
    open(&pasted, tree);
    EXPECT(source_add_file(&pasted.source, "src/a.h"));
    EXPECT_TEXT_EQ(pasted.source.text.chars, "int b;\nint d;\nint a;\n");
    EXPECT(source_add_file(&pasted.source, "src/again.h"));
    EXPECT(source_add_file(&pasted.source, "src/a.h"));
    EXPECT_TEXT_EQ(pasted.source.text.chars, "int b;\nint d;\nint a;\n#pragma unroll\nint again;\n");
    close(&pasted);
}

TEST(device_source_is_without_what_is_the_hosts_and_what_that_includes)
{
    struct pasted pasted;
    open(&pasted, tree);
    EXPECT(source_add_file(&pasted.source, "src/host.h"));
    EXPECT_TEXT_EQ(pasted.source.text.chars, "int device;\nint only;\nint b;\nint d;\n");
    close(&pasted);
}

TEST(device_source_leaves_other_conditions_to_the_compiler)
{
    struct pasted pasted;
    open(&pasted, tree);
    EXPECT(source_add_file(&pasted.source, "src/other.h"));
    EXPECT_TEXT_EQ(pasted.source.text.chars, tree[5].bytes);
    close(&pasted);
}

TEST(device_source_refuses_a_file_that_it_has_not)
{
    struct pasted pasted;
    open(&pasted, tree);
    EXPECT(!source_add_file(&pasted.source, "src/none.h"));
    EXPECT_TEXT_EQ(errors_text(&pasted.errors), "device: this program has no 'src/none.h' for devices in it\n");
    EXPECT(pasted.source.text.length == 0);
    close(&pasted);
}

TEST(device_source_tells_where_a_line_came_from)
{
    struct pasted pasted;
    open(&pasted, tree);
    EXPECT(source_add_file(&pasted.source, "src/a.h"));
    source_add_text(&pasted.source, "made here", "\nint e;\n#include \"again.h\"\nint f;\n");
    EXPECT_TEXT_EQ(source_place(&pasted.source, 1, &pasted.arena), "include/flitwarp/b.h:2");
    EXPECT_TEXT_EQ(source_place(&pasted.source, 2, &pasted.arena), "src/c/d.h:4");
    EXPECT_TEXT_EQ(source_place(&pasted.source, 3, &pasted.arena), "src/a.h:4");
    EXPECT_TEXT_EQ(source_place(&pasted.source, 5, &pasted.arena), "made here:2");
    EXPECT_TEXT_EQ(source_place(&pasted.source, 7, &pasted.arena), "src/again.h:3");
    EXPECT_TEXT_EQ(source_place(&pasted.source, 8, &pasted.arena), "made here:4");
    EXPECT(!source_place(&pasted.source, 9, &pasted.arena));
    EXPECT(!source_place(&pasted.source, 0, &pasted.arena));
    close(&pasted);
}

TEST(device_source_names_places_in_what_compilers_say)
{
    struct pasted pasted;
    open(&pasted, tree);
    EXPECT(source_add_file(&pasted.source, "src/a.h"));
    /* As drivers of NVIDIA and AMD and PoCL write it; a line that the text has not, and none at all. */
    const char *log = "\n<kernel>:2:5: error: unknown\n/tmp/comgr-1/input/Source:3:1: warning: w\n\n"
                      "error: /tmp/a.cl:1:2: no 'x'\n<kernel>:77:5: note: n\n1 error generated.\n";
    EXPECT_TEXT_EQ(source_log(&pasted.source, log, 9, &pasted.arena),
                   "src/c/d.h:4:5: error: unknown\nsrc/a.h:4:1: warning: w\nerror: include/flitwarp/b.h:2:2: no 'x'\n"
                   "<kernel>:77:5: note: n\n1 error generated.");
    EXPECT_TEXT_EQ(source_log(&pasted.source, log, 1, &pasted.arena), "src/c/d.h:4:5: error: unknown\n...");
    EXPECT_TEXT_EQ(source_log(&pasted.source, "", 9, &pasted.arena), "");
    close(&pasted);
}

/* What OpenCL would not understand must not be in it: the program's own headers. */
TEST(device_source_of_this_program_has_no_includes_left)
{
    struct pasted pasted;
    open(&pasted, device_files);
    EXPECT(device_files[0].name != NULL);
    for (const struct embedded_file *file = device_files; file->name; file++)
        EXPECT(source_add_file(&pasted.source, file->name));
    EXPECT(strstr(pasted.source.text.chars, "FW_FAR"));
    EXPECT(!strstr(pasted.source.text.chars, "#include"));
    EXPECT(!strstr(pasted.source.text.chars, "#pragma once"));
    close(&pasted);
}
