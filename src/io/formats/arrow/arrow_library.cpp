#include "io/formats/arrow/arrow_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

#include "support/error.hpp"
#include "support/own_library.hpp"

namespace gpulog::io {
namespace {

constexpr const char* library_name = "libgpulog_arrow.so";

/// The functions of libgpulog_arrow.so, which stays loaded.
struct arrow_library {
  arrow_read_function read = nullptr;
  arrow_write_function write = nullptr;
  std::string failure;

  arrow_library() {
    void* const library = load_own_library(library_name, failure);
    if (library == nullptr) return;
    read = reinterpret_cast<arrow_read_function>(dlsym(library, arrow_read_name));
    write = reinterpret_cast<arrow_write_function>(dlsym(library, arrow_write_name));
    if (read == nullptr || write == nullptr) failure = fmt::format("{} is not of this version", library_name);
  }

  [[nodiscard]] bool usable() const { return read != nullptr && write != nullptr; }

  static const arrow_library& get() {
    static const arrow_library library;
    if (!library.usable()) {
      throw user_error(
          fmt::format("Parquet and Arrow files need a gpulog that was built with Apache Arrow ({})", library.failure));
    }
    return library;
  }
};

}  // namespace

void open_arrow_file(const std::filesystem::path& path, arrow_format format, unsigned threads,
                     arrow_owned<ArrowArrayStream>& rows) {
  arrow_problem problem{};
  if (!arrow_library::get().read(path.c_str(), format, threads, rows.get(), &problem)) throw user_error(problem.text);
}

void require_arrow() { (void)arrow_library::get(); }

void save_arrow_file(const std::filesystem::path& path, arrow_format format, ArrowArrayStream* rows) {
  arrow_problem problem{};
  if (!arrow_library::get().write(path.c_str(), format, rows, &problem)) throw user_error(problem.text);
}

}  // namespace gpulog::io
