#include "io/formats/arrow/arrow_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/error.hpp"

namespace gpulog::io {
namespace {

constexpr const char* library_name = "libgpulog_arrow.so";

/// Returns the folder of the program or library that contains this function.
std::filesystem::path own_folder() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &self) == 0 || self.dli_fname == nullptr) return {};
  std::error_code ignored;
  // For a program, dli_fname is argv[0].
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path file(self.dli_fname);
  const bool is_library = file.has_parent_path() && file.filename().string().find(".so") != std::string::npos;
  return (is_library || ignored ? file : program).parent_path();
}

/// Candidate folders: the program's folder in a build, then the installed folders. A program with a static libgpulog
/// may be anywhere.
std::vector<std::filesystem::path> places() {
  const std::filesystem::path folder = own_folder();
  return {folder, folder / ".." / "lib", folder / ".." / GPULOG_LIBRARY_FOLDER / "gpulog", folder / "gpulog",
          std::filesystem::path(GPULOG_INSTALLED_LIBRARIES) / "gpulog"};
}

/// The functions of libgpulog_arrow.so, which stays loaded.
struct arrow_library {
  arrow_read_function read = nullptr;
  arrow_write_function write = nullptr;
  std::string failure;

  arrow_library() {
    void* library = nullptr;
    for (const std::filesystem::path& folder : places()) {
      const std::filesystem::path file = folder / library_name;
      std::error_code ignored;
      if (library == nullptr && std::filesystem::exists(file, ignored)) library = open(file.string());
    }
    if (library == nullptr && failure.empty()) library = open(library_name);
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

 private:
  void* open(const std::string& name) {
    void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      const char* const reason = dlerror();
      failure = reason == nullptr ? name : reason;
    }
    return opened;
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
