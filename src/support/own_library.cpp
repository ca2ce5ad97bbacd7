#include "support/own_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <vector>

namespace gpulog {
namespace {

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
std::vector<std::filesystem::path> library_folders() {
  const std::filesystem::path folder = own_folder();
  return {folder, folder / ".." / "lib", folder / ".." / GPULOG_LIBRARY_FOLDER / "gpulog", folder / "gpulog",
          std::filesystem::path(GPULOG_INSTALLED_LIBRARIES) / "gpulog"};
}

void* open_library(const std::string& name, std::string& failure) {
  void* const opened = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* const reason = dlerror();
    failure = reason == nullptr ? name : reason;
  }
  return opened;
}

}  // namespace

void* load_own_library(const std::string& name, std::string& failure) {
  void* library = nullptr;
  for (const std::filesystem::path& folder : library_folders()) {
    const std::filesystem::path file = folder / name;
    std::error_code ignored;
    if (library == nullptr && std::filesystem::exists(file, ignored)) library = open_library(file.string(), failure);
  }
  if (library == nullptr && failure.empty()) library = open_library(name, failure);
  return library;
}

}  // namespace gpulog
