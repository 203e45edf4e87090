# SPDX-License-Identifier: Apache-2.0
# docker build -t flitwarp . && docker run --rm -v "$PWD:/work" flitwarp run net.json --results results.json
# Built from Debian's packages alone, as a Debian package; the second stage has that, Python with matplotlib and nothing else.
FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends gcc libc6-dev cmake ninja-build pkg-config git dpkg-dev python3 \
    libzstd-dev libcivetweb-dev libsqlite3-dev zlib1g-dev libbz2-dev libmetis-dev opencl-headers libopenmpi-dev openmpi-bin \
    clang lld wasi-libc libclang-rt-14-dev-wasm32 ca-certificates
COPY . /source
RUN cd /source && ./dev package --deb && cp build-package/flitwarp_*.deb /flitwarp.deb

FROM debian:bookworm-slim
COPY --from=build /flitwarp.deb /
RUN apt-get update && apt-get install -y --no-install-recommends /flitwarp.deb python3 python3-numpy python3-matplotlib openmpi-bin ocl-icd-libopencl1 \
    && rm -rf /flitwarp.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["flitwarp"]
