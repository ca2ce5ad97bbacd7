#include "engine/figures/run_figures.hpp"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstddef>
#include <exception>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "backend/memory_resource.hpp"
#include "gpulog/options.hpp"
#include "storage/relation/relation.hpp"

namespace gpulog::detail {

span_scope::span_scope(statistics& figures, double zero, std::string name, std::string subject)
    : figures_(figures), zero_(zero), number_(figures.spans.size()) {
  figures.spans.push_back({std::move(name), std::move(subject), storage::seconds_now() - zero, 0, false});
}

span_scope::~span_scope() {
  span_statistics& span = figures_.spans[number_];
  span.seconds = storage::seconds_now() - zero_ - span.begin;
  span.is_complete = std::uncaught_exceptions() == exceptions_;
}

std::map<std::string, std::string> describe_machine() {
  std::map<std::string, std::string> machine;
  machine["processors"] = std::to_string(std::thread::hardware_concurrency());
  machine["memory_bytes"] = std::to_string(backend::machine_bytes());
  utsname system{};
  if (uname(&system) == 0) machine["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name") || line.find(": ") == std::string::npos) continue;
    machine["processor"] = line.substr(line.find(": ") + 2);
    break;
  }
  if (const std::string gpu = built_gpu(); !gpu.empty()) machine["gpu"] = gpu;
  return machine;
}

std::uint64_t peak_process_bytes() {
  constexpr std::uint64_t bytes_per_unit = 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * bytes_per_unit;
}

}  // namespace gpulog::detail
