# SPDX-License-Identifier: Apache-2.0
# For Spack: spack repo create ~/own && mkdir -p ~/own/packages/flitwarp && cp package.py ~/own/packages/flitwarp, then
# spack repo add ~/own && spack install flitwarp. The tarball is what ./dev package --source makes, in the folder of this call.
import os

from spack.package import *


class Flitwarp(CMakePackage):
    """Simulator of interconnection networks."""

    url = "file://{0}/flitwarp-1.0.0.tar.gz".format(os.getcwd())
    license("Apache-2.0")

    version("1.0.0")

    variant("mpi", default=True, description="runs over MPI ranks")
    variant("opencl", default=False, description="runs on GPUs, whose drivers bring libOpenCL.so.1")
    variant("figures", default=True, description="Python with numpy and matplotlib, for studies and figures")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("bzip2")
    depends_on("sqlite")
    depends_on("civetweb")
    depends_on("opencl-c-headers", type="build", when="+opencl")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("py-numpy", when="+figures", type="run")
    depends_on("py-matplotlib", when="+figures", type="run")

    def cmake_args(self):
        # Spack's compilers choose the machine.
        return [self.define_from_variant("FLITWARP_MPI", "mpi"), self.define("FLITWARP_MARCH", "")]

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", self.prefix.lib.python3.join("dist-packages"))
