// Measures loading of facts and writing of rows.
//
//   bench_io load KINDS FILE...       KINDS: one letter per column, n(umber) u(nsigned) f(loat) s(ymbol); "*": as many
//                                     symbols as the first line has columns. All files share one symbol table.
//   bench_io write KINDS FILE FOLDER  loads, then writes to FOLDER
//
// Environment: THREADS (default 1), REPEAT (default 5; prints the median).

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>

#include "io/facts_reader.hpp"
#include "io/relation_writer.hpp"

namespace {

using gpulog::value_kind;
using gpulog::word;
namespace io = gpulog::io;

unsigned environment_number(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::atoi(text));
}

std::vector<value_kind> kinds_of(const std::string& letters, const std::string& file) {
  std::vector<value_kind> kinds;
  if (letters == "*") {
    std::string line;
    std::ifstream text(file);
    std::getline(text, line);
    kinds.resize(static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1, value_kind::symbol);
    return kinds;
  }
  for (const char letter : letters) {
    kinds.push_back(letter == 'n'   ? value_kind::number
                    : letter == 'u' ? value_kind::unsigned_number
                    : letter == 'f' ? value_kind::floating
                                    : value_kind::symbol);
  }
  return kinds;
}

struct loaded {
  std::vector<std::unique_ptr<word[]>> memory;
  std::vector<word*> columns;
  std::vector<value_kind> kinds;
  std::uint64_t rows = 0;
};

loaded load(const std::string& letters, const std::string& file, gpulog::storage::symbol_table& symbols,
            unsigned threads) {
  loaded result;
  io::read_request request;
  request.relation = "bench";
  request.parameters["filename"] = file;
  request.kinds = result.kinds = kinds_of(letters, file);
  request.threads = threads;
  result.rows = io::read_facts(request, symbols, [&](std::uint64_t rows) {
    for (std::size_t column = 0; column < request.kinds.size(); ++column) {
      result.memory.push_back(std::make_unique_for_overwrite<word[]>(rows));
      result.columns.push_back(result.memory.back().get());
    }
    return result.columns;
  });
  return result;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void report(const char* what, std::vector<double> times, double bytes, double rows) {
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%s: median %.4f s (%.4f - %.4f), %.0f MB/s, %.2f M rows/s\n", what, median, times.front(), times.back(),
              bytes / median / 1e6, rows / median / 1e6);
}

double file_bytes(const std::string& file) {
  struct stat status {};
  return stat(file.c_str(), &status) == 0 ? static_cast<double>(status.st_size) : 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return std::fprintf(stderr, "usage: bench_io load|write KINDS FILE... [FOLDER]\n"), 1;
  const std::string letters = arguments[2];
  const unsigned threads = environment_number("THREADS", 1);
  const unsigned repeat = environment_number("REPEAT", 5);
  std::vector<double> times;
  if (std::strcmp(arguments[1], "load") == 0) {
    double bytes = 0;
    double rows = 0;
    for (unsigned round = 0; round < repeat; ++round) {
      gpulog::storage::symbol_table symbols;
      bytes = rows = 0;
      const auto start = std::chrono::steady_clock::now();
      for (int file = 3; file < count; ++file) {
        rows += static_cast<double>(load(letters, arguments[file], symbols, threads).rows);
        bytes += file_bytes(arguments[file]);
      }
      times.push_back(seconds_since(start));
      if (round == 0) {
        std::printf("%.0f rows, %.1f MB, %llu symbols in %.1f MB\n", rows, bytes / 1e6,
                    static_cast<unsigned long long>(symbols.size()), static_cast<double>(symbols.memory_bytes()) / 1e6);
      }
    }
    report("load", times, bytes, rows);
    return 0;
  }
  gpulog::storage::symbol_table symbols;
  const loaded data = load(letters, arguments[3], symbols, threads);
  io::relation_rows rows{"bench", {}, data.kinds, {data.columns.begin(), data.columns.end()}, data.rows};
  for (unsigned round = 0; round < repeat; ++round) {
    const auto start = std::chrono::steady_clock::now();
    io::output_files files;
    io::write_relation(rows, {{}, arguments[4], threads}, symbols, files);
    files.commit();
    times.push_back(seconds_since(start));
  }
  report("write", times, file_bytes(std::string(arguments[4]) + "/bench.csv"), static_cast<double>(data.rows));
}
