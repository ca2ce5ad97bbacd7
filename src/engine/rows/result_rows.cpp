#include "engine/rows/result_rows.hpp"

#include <utility>

namespace gpulog::detail {

result_rows result_rows_of(std::uint32_t number, const run_context& run, const evaluations& results) {
  evaluation& home = *results.home(number);
  result_rows made;
  made.rows = results.rows(number);
  if (!home.has_columns(number)) made.stream = home.executor().stream_rows(relation_id(number));
  if (run.is_equivalence(number)) {
    made.read = [&home, number](std::uint64_t first, std::uint64_t n, word* const* columns) {
      home.executor().read_pairs(relation_id(number), first, n, columns);
    };
  } else if (made.stream) {
    made.read = [&stream = *made.stream](std::uint64_t first, std::uint64_t n, word* const* columns) {
      stream.read(first, n, columns);
    };
  } else {
    made.columns = results.columns_of(number);
  }
  if (made.read && home.encoding_of(number) != nullptr) {
    made.read = [&home, number, read = std::move(made.read)](std::uint64_t first, std::uint64_t n,
                                                             word* const* columns) {
      read(first, n, columns);
      home.encoding_of(number)->restore(number, n, columns);
    };
  }
  return made;
}

}  // namespace gpulog::detail
