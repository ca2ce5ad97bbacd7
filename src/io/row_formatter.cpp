#include "io/row_formatter.hpp"

#include "support/error.hpp"

namespace gpulog::io {

void check_kinds(const relation_rows& rows) {
  for (const value_kind kind : rows.kinds) {
    ensure(!is_structured(kind) || rows.structured.records != nullptr, "records are written from a table");
  }
}

}  // namespace gpulog::io
