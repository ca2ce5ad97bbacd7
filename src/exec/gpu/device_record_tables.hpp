#pragma once

#include <memory>
#include <unordered_map>

#include "storage/records/device_records.hpp"
#include "storage/records/record_sharing.hpp"

namespace gpulog::exec {

/// The device's record tables, one per arity in use.
class device_record_tables {
 public:
  using table = storage::gpu::device_records;

  device_record_tables(const backend::gpu::device_context& context, backend::memory_resource& resource)
      : context_(&context), resource_(&resource) {}

  /// Returns the device's copy of a host table, up to date.
  /// @throws backend::memory_exceeded
  [[nodiscard]] table& of(storage::record_table& host) {
    std::unique_ptr<storage::shared_records<table>>& shared = tables_[&host];
    if (!shared) {
      shared = std::make_unique<storage::shared_records<table>>(
          host, table(*context_, *resource_, host.arity(), host.most()));
    }
    return shared->up_to_date();
  }
  /// Copies new records to the host, before the host reads or looks up records.
  void bring_to_host() {
    for (const auto& [host, shared] : tables_) shared->bring_to_host();
  }
  /// Frees old buffers of grown tables, which kernels of the running pipeline may have read.
  void release_outgrown() {
    for (const auto& [host, shared] : tables_) shared->other().release_outgrown();
  }

 private:
  const backend::gpu::device_context* context_;
  backend::memory_resource* resource_;
  std::unordered_map<const storage::record_table*, std::unique_ptr<storage::shared_records<table>>> tables_;
};

}  // namespace gpulog::exec
