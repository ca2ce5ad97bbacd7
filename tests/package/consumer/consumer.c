/* A program in C: facts in columns, an evaluation, results, a query, and errors. */
#include <gpulog.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char* const text =
    ".type Place = [town:symbol, km:number]\n"
    ".decl road(x:symbol, y:symbol, km:number)\n"
    ".decl reach(x:symbol, y:symbol)\n"
    "reach(x, y) :- road(x, y, _).\n"
    "reach(x, z) :- reach(x, y), road(y, z, _).\n"
    ".decl place(p:Place, f:float)\n"
    "place([x, km], 0.5) :- road(x, _, km).\n";

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

static int failures = 0;

static void check(gpulog_status status, gpulog_status expected) {
  if (status == expected) return;
  printf("status %d instead of %d: %s\n", (int)status, (int)expected, gpulog_message());
  failures = 1;
}

static void print_value(const gpulog_column* column, uint64_t row) {
  if (column->type == GPULOG_TEXT) printf("%s", ((const gpulog_text*)column->values)[row].bytes);
  if (column->type == GPULOG_INT32) printf("%" PRId32, ((const int32_t*)column->values)[row]);
  if (column->type == GPULOG_FLOAT) printf("%g", (double)((const float*)column->values)[row]);
}

static void print_rows(gpulog_rows* rows) {
  uint64_t row;
  size_t number;
  for (number = 0; number < gpulog_rows_width(rows); ++number)
    printf("%s:%s ", gpulog_rows_name(rows, number), gpulog_rows_type(rows, number));
  printf("%" PRIu64 " rows\n", gpulog_rows_size(rows));
  for (row = 0; row < gpulog_rows_size(rows); ++row) {
    for (number = 0; number < gpulog_rows_width(rows); ++number) {
      gpulog_column column;
      check(gpulog_rows_column(rows, number, &column), GPULOG_OK);
      if (number > 0) printf(" ");
      print_value(&column, row);
    }
    printf("\n");
  }
}

static void print_relation(gpulog_engine* engine, const char* name) {
  gpulog_rows* rows = NULL;
  check(gpulog_relation(engine, name, &rows), GPULOG_OK);
  print_rows(rows);
  gpulog_rows_free(rows);
}

int main(void) {
  const char* const options[] = {"filled=road", "jobs=2", "memory_limit=1G", "magic-sets=off", "changes=1", NULL};
  const char* const wrong_options[] = {"job=2", NULL};
  const gpulog_text from[] = {TEXT("Vienna"), TEXT("Linz")};
  const gpulog_text to[] = {TEXT("Linz"), TEXT("Salzburg")};
  const int32_t km[] = {180, 130};
  const gpulog_column columns[] = {{GPULOG_TEXT, from}, {GPULOG_TEXT, to}, {GPULOG_INT32, km}};
  gpulog_program* program = NULL;
  gpulog_engine* engine = NULL;
  gpulog_rows* answer = NULL;
  gpulog_rows* removed = NULL;

  check(gpulog_program_from_text(".decl a(x:number)\na(1).\nb(2).\n", NULL, &program), GPULOG_PROGRAM_ERROR);
  printf("%s", gpulog_message());
  check(gpulog_program_from_text(text, wrong_options, &program), GPULOG_INPUT_ERROR);
  printf("%s\n", gpulog_message());
  check(gpulog_program_from_text(text, options, &program), GPULOG_OK);
  check(gpulog_engine_new(program, options, &engine), GPULOG_OK);
  printf("warnings: '%s'\n", gpulog_program_report(program));
  gpulog_program_free(program);

  check(gpulog_insert(engine, "road", columns, 3, 2), GPULOG_OK);
  check(gpulog_insert(engine, "road", columns, 2, 2), GPULOG_INPUT_ERROR);
  printf("%s\n", gpulog_message());
  check(gpulog_evaluate(engine), GPULOG_OK);
  print_relation(engine, "reach");
  print_relation(engine, "place");
  check(gpulog_save(engine, "none/state"), GPULOG_OUTPUT_ERROR);

  check(gpulog_query(engine, "reach(\"Vienna\", x), x != \"Linz\"", &answer), GPULOG_OK);
  check(gpulog_erase(engine, "road", columns, 3, 1), GPULOG_OK);
  check(gpulog_evaluate(engine), GPULOG_OK);
  print_relation(engine, "reach");
  print_rows(answer);
  gpulog_rows_free(answer);
  check(gpulog_changes(engine, "reach", &answer, &removed), GPULOG_OK);
  print_rows(answer);
  print_rows(removed);
  gpulog_rows_free(answer);
  gpulog_rows_free(removed);
  check(gpulog_changes(engine, "raod", &answer, &removed), GPULOG_INPUT_ERROR);
  check(gpulog_restore(engine, "none"), GPULOG_INPUT_ERROR);
  printf("%s\n", gpulog_message());
  check(gpulog_save(engine, "state"), GPULOG_INPUT_ERROR);
  printf("%s\n", gpulog_message());
  check(gpulog_query(engine, "raech(x, y)", &answer), GPULOG_PROGRAM_ERROR);

  gpulog_cancel(engine);
  check(gpulog_insert(engine, "road", columns, 3, 2), GPULOG_OK);
  check(gpulog_evaluate(engine), GPULOG_CANCELLED);
  check(gpulog_evaluate(engine), GPULOG_INPUT_ERROR);
  check(gpulog_reset(engine), GPULOG_OK);
  check(gpulog_evaluate(engine), GPULOG_OK);
  print_relation(engine, "reach");
  gpulog_engine_free(engine);
  printf("gpulog %s\n", gpulog_version());
  return failures;
}
