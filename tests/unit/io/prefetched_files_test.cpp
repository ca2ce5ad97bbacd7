#include "io/files/prefetched_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "compressed.hpp"
#include "loading.hpp"

namespace gpulog::io {
namespace {

std::string all_of(byte_source& source) {
  std::string text;
  char buffer[1000];
  while (const std::size_t count = source.read(buffer, sizeof buffer)) text.append(buffer, count);
  return text;
}

std::string lines(std::size_t count, const std::string& word) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += word + std::to_string(i) + "\n";
  return text;
}

/// Twenty files, of some bytes to some megabytes each.
struct written_files {
  written_files() {
    for (std::size_t i = 0; i < 20; ++i) {
      texts.push_back(lines(i % 5 == 3 ? 300000 : i * i, "f" + std::to_string(i) + "_"));
      const std::string name = std::to_string(i) + ".facts";
      folder.write(name, i % 2 == 0 ? gzipped(texts.back()) : zstd_compressed(texts.back()));
      paths.push_back(folder.path() / name);
    }
  }
  temporary_folder folder;
  std::vector<std::string> texts;
  std::vector<std::filesystem::path> paths;
};

TEST(prefetched_files, files_are_what_they_are) {
  const written_files written;
  for (const std::uint64_t most_bytes : {std::uint64_t{0}, std::uint64_t{1} << 21, std::uint64_t{1} << 30}) {
    for (const unsigned threads : {1U, 3U, 30U}) {
      prefetched_files ahead(written.paths, threads, most_bytes);
      for (std::size_t i = 0; i < written.paths.size(); ++i) {
        while (ahead.begun() <= i) std::this_thread::yield();
        const auto source = ahead.take(written.paths[i]);
        ASSERT_NE(source, nullptr);
        ASSERT_EQ(all_of(*source), written.texts[i]);
      }
    }
  }
}

TEST(prefetched_files, files_that_nobody_asks_for) {
  const written_files written;
  prefetched_files ahead(written.paths, 4, 1 << 20);
  EXPECT_EQ(ahead.take("elsewhere.facts"), nullptr);
  for (const std::size_t i : {3U, 4U, 13U, 18U}) {
    if (const auto source = ahead.take(written.paths[i])) EXPECT_EQ(all_of(*source), written.texts[i]);
  }
  EXPECT_EQ(ahead.take(written.paths[5]), nullptr);
  static_cast<void>(ahead.take(written.paths[19]));
}

TEST(prefetched_files, what_is_not_compressed_is_left_alone) {
  temporary_folder folder;
  folder.write("plain.facts", "1\n2\n");
  folder.write("empty.facts", "");
  const auto pipe = folder.path() / "pipe.facts";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::vector<std::filesystem::path> paths = {folder.path() / "plain.facts", folder.path() / "empty.facts", pipe,
                                                    folder.path() / "none.facts", folder.path()};
  prefetched_files ahead(paths, 2, 1 << 20);
  for (const auto& path : paths) EXPECT_EQ(ahead.take(path), nullptr);
}

TEST(prefetched_files, damage_is_met_where_it_is) {
  temporary_folder folder;
  const std::string text = lines(200000, "line ");
  for (std::string cut : {gzipped(text), zstd_compressed(text)}) {
    cut.resize(cut.size() / 2);
    folder.write("cut.facts", cut);
    folder.write("last.facts", gzipped(text));
    prefetched_files ahead({folder.path() / "cut.facts", folder.path() / "last.facts"}, 2, 1 << 22);
    if (const auto source = ahead.take(folder.path() / "cut.facts")) EXPECT_THROW(all_of(*source), read_failure);
    if (const auto source = ahead.take(folder.path() / "last.facts")) EXPECT_EQ(all_of(*source), text);
  }
}

}  // namespace
}  // namespace gpulog::io
