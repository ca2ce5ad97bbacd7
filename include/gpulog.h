/* gpulog for programs in C and for languages that call C. tests/package/consumer/consumer.c is an example.
 *
 * A function that can fail returns a gpulog_status; gpulog_message() then describes the failure of this thread's last
 * call. An engine and its rows are not thread-safe, except for gpulog_cancel(). Texts are UTF-8 or any bytes. */
#ifndef GPULOG_H
#define GPULOG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define GPULOG_C_API __attribute__((visibility("default")))
#else
#define GPULOG_C_API
#endif

/* The structs of the Arrow C stream interface (https://arrow.apache.org/docs/format/CStreamInterface.html). */
struct ArrowArrayStream;

typedef struct gpulog_program gpulog_program;
typedef struct gpulog_engine gpulog_engine;
typedef struct gpulog_rows gpulog_rows;

typedef enum gpulog_status {
  GPULOG_OK = 0,
  GPULOG_PROGRAM_ERROR = 1, /* errors in a program or a query; the message is the report of all of them */
  GPULOG_INPUT_ERROR = 2,   /* wrong facts, options, names or files */
  GPULOG_OUTPUT_ERROR = 3,
  GPULOG_EVALUATION_ERROR = 4, /* a rule failed on its data */
  GPULOG_MEMORY_ERROR = 5,     /* the memory limit or the memory of the machine is too small */
  GPULOG_CANCELLED = 6,
  GPULOG_OTHER_ERROR = 7
} gpulog_status;

typedef enum gpulog_type {
  GPULOG_INT32 = 0,
  GPULOG_UINT32 = 1,
  GPULOG_FLOAT = 2,
  GPULOG_INT64 = 3,
  GPULOG_UINT64 = 4,
  GPULOG_DOUBLE = 5,
  GPULOG_TEXT = 6
} gpulog_type;

/* A text of any bytes; a text of gpulog also ends with a zero byte. */
typedef struct gpulog_text {
  const char* bytes;
  size_t length;
} gpulog_text;

/* A column: an array of int32_t, uint32_t, float, int64_t, uint64_t, double or gpulog_text, as `type` says. Records
 * and branches are texts as in a fact file. */
typedef struct gpulog_column {
  gpulog_type type;
  const void* values;
} gpulog_column;

GPULOG_C_API const char* gpulog_version(void);

/* Returns the message of this thread's last failed call, valid until its next call. */
GPULOG_C_API const char* gpulog_message(void);

/* Reads a program from a text or from a file.
 *
 * options: texts "name=value" and a final NULL; or NULL. gpulog_engine_new() takes the same texts, and each function
 * ignores the options of the other one. Of a program: word_size, portable (0 or 1: warn about extensions that Souffle
 * does not have), include, macro, filled (the last three several times). Of an engine: facts, output (folders), jobs,
 * backend, device, storage, memory_limit (4G), spill (folder), changes (0 or 1), functor_library, functor_directory,
 * and tuning choices by name. */
GPULOG_C_API gpulog_status gpulog_program_from_text(const char* text, const char* const* options,
                                                    gpulog_program** program);
GPULOG_C_API gpulog_status gpulog_program_from_file(const char* path, const char* const* options,
                                                    gpulog_program** program);
/* Returns the warnings as text, valid as long as the program. */
GPULOG_C_API const char* gpulog_program_report(const gpulog_program* program);
GPULOG_C_API void gpulog_program_free(gpulog_program* program);

/* Creates an engine, which does not need the program afterwards. */
GPULOG_C_API gpulog_status gpulog_engine_new(const gpulog_program* program, const char* const* options,
                                             gpulog_engine** engine);
GPULOG_C_API void gpulog_engine_free(gpulog_engine* engine);

/* Reads the files of .input directives; evaluates the program; writes the files of .output directives. */
GPULOG_C_API gpulog_status gpulog_load(gpulog_engine* engine);
GPULOG_C_API gpulog_status gpulog_evaluate(gpulog_engine* engine);
GPULOG_C_API gpulog_status gpulog_write(gpulog_engine* engine);
/* Stores the results of the last evaluation in a file; restores them in a new engine with the same program and options,
 * whose gpulog_load() then reads the fact files that have changed. */
GPULOG_C_API gpulog_status gpulog_save(gpulog_engine* engine, const char* path);
GPULOG_C_API gpulog_status gpulog_restore(gpulog_engine* engine, const char* path);
/* Discards facts and results; the only valid call after a failed evaluation. */
GPULOG_C_API gpulog_status gpulog_reset(gpulog_engine* engine);
/* Cancels the call that runs in another thread, or else the next one. Thread-safe. */
GPULOG_C_API void gpulog_cancel(gpulog_engine* engine);

/* Add rows to the facts of a relation, or remove rows: all, or none after an error. The values are copied.
 * columns: one per attribute, with `rows` values each */
GPULOG_C_API gpulog_status gpulog_insert(gpulog_engine* engine, const char* relation, const gpulog_column* columns,
                                         size_t column_count, uint64_t rows);
GPULOG_C_API gpulog_status gpulog_erase(gpulog_engine* engine, const char* relation, const gpulog_column* columns,
                                        size_t column_count, uint64_t rows);
/* The same with a stream of Arrow arrays, which the caller releases. */
GPULOG_C_API gpulog_status gpulog_insert_arrow(gpulog_engine* engine, const char* relation,
                                               struct ArrowArrayStream* rows);
GPULOG_C_API gpulog_status gpulog_erase_arrow(gpulog_engine* engine, const char* relation,
                                              struct ArrowArrayStream* rows);

/* Returns the rows of a relation, valid until its engine changes; columns that were read stay valid. */
GPULOG_C_API gpulog_status gpulog_relation(gpulog_engine* engine, const char* name, gpulog_rows** rows);
/* Returns the rows of a query such as `reach("a", x)`, which stay valid and unchanged when the engine changes. */
GPULOG_C_API gpulog_status gpulog_query(gpulog_engine* engine, const char* body, gpulog_rows** rows);
/* Returns the tuples of a relation that the last evaluation added and removed; they stay valid and unchanged. Requires
 * the option changes=1. */
GPULOG_C_API gpulog_status gpulog_changes(gpulog_engine* engine, const char* relation, gpulog_rows** added,
                                          gpulog_rows** removed);
GPULOG_C_API void gpulog_rows_free(gpulog_rows* rows);

GPULOG_C_API uint64_t gpulog_rows_size(const gpulog_rows* rows);
GPULOG_C_API size_t gpulog_rows_width(const gpulog_rows* rows);
/* Return name and type of a column: number, unsigned, float, symbol, record or adt; NULL for no such column. */
GPULOG_C_API const char* gpulog_rows_name(const gpulog_rows* rows, size_t column);
GPULOG_C_API const char* gpulog_rows_type(const gpulog_rows* rows, size_t column);
/* Reads a column, valid until the rows are freed. Numbers of 32 bits are not copied. */
GPULOG_C_API gpulog_status gpulog_rows_column(gpulog_rows* rows, size_t column, gpulog_column* values);
/* Creates a stream of Arrow arrays, which the caller releases. */
GPULOG_C_API gpulog_status gpulog_rows_to_arrow(const gpulog_rows* rows, struct ArrowArrayStream* stream);

#ifdef __cplusplus
}
#endif

#endif
