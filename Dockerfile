# gpulog for CPUs, built from a clone:
#
#   docker build -t gpulog:cpu .
#   docker run --rm -v "$PWD:/data" gpulog:cpu program.dl -D-
FROM debian:12-slim AS build
WORKDIR /gpulog
COPY scripts/packages scripts/install_packages scripts/
RUN bash -c '. scripts/packages && scripts/install_packages "${build_packages[@]}" "${deb_packages[@]}"'
COPY . .
RUN cmake --preset package -DGPULOG_GPU=off -DGPULOG_ARROW=OFF \
 && cmake --build --preset package \
 && cd build/package && cpack -G DEB -D CPACK_COMPONENTS_ALL=command

FROM debian:12-slim
COPY --from=build /gpulog/build/package/gpulog_*.deb /tmp/
RUN apt-get update -q && apt-get install -q -y --no-install-recommends /tmp/gpulog_*.deb \
 && rm -rf /var/lib/apt/lists/* /tmp/gpulog_*.deb
WORKDIR /data
ENTRYPOINT ["gpulog"]
