package dev.doorbell.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import jcuda.nvptxcompiler.JNvPTXCompiler;
import jcuda.nvptxcompiler.nvPTXCompileResult;
import jcuda.nvptxcompiler.nvPTXCompilerHandle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * NVIDIA's own PTX compiler takes every kernel. The one inside JCuda 12.6 is CUDA 12.0's: it stops
 * at ISA 8.0, so it gets the variant without {@code .mmio}.
 */
class PtxCompilerTest {
  private static final KernelCatalogue CATALOGUE = KernelCatalogue.load();

  @SuppressWarnings("unused") // by name, below
  private static final Iterable<ProtocolKernel> KERNELS = CATALOGUE.kernels();

  @BeforeAll
  static void needs_the_native_compiler() {
    String reason = "";
    try {
      JNvPTXCompiler.setExceptionsEnabled(false);
      JNvPTXCompiler.nvPTXCompilerGetVersion(new int[1], new int[1]);
    } catch (LinkageError e) {
      reason =
          "skipped: JCuda's PTX compiler does not load here (%s); it needs Linux on x86-64"
              .formatted(e.getMessage());
    }
    assumeTrue(reason.isEmpty(), reason);
  }

  @Tag("slow")
  @ParameterizedTest
  @FieldSource("KERNELS")
  void every_kernel_compiles_for_the_newest_gpu_that_the_compiler_knows(ProtocolKernel kernel) {
    // kernels/build has assembled it for the oldest that it runs on.
    assumeThat(CATALOGUE.ptx(kernel)).as("CUDA 12.0 has no multimem").doesNotContain("multimem.");
    assertThat(compile(portable(kernel), "sm_90")).as(kernel.name()).isEmpty();
  }

  @ParameterizedTest
  @FieldSource("KERNELS")
  void a_damaged_kernel_is_refused(ProtocolKernel kernel) {
    String damaged = portable(kernel).replaceFirst("ret;", "return;");
    assertThat(compile(damaged, kernel.target())).contains("return");
  }

  /**
   * PTX for compilers of CUDA 12.0, which do not accept {@code .mmio}. Lines do not say what they
   * were inlined into: that compiler crashes on it when it compiles several files in one process.
   */
  private static String portable(ProtocolKernel kernel) {
    return CATALOGUE
        .ptx(kernel)
        .replace(".mmio.relaxed.", ".relaxed.")
        .replaceAll(", function_name \\S+, inlined_at \\d+ \\d+ \\d+", "")
        .replaceFirst("(?m)^\\.version .*$", ".version 8.0");
  }

  /** The compiler's complaint, or nothing. */
  private static String compile(String ptx, String gpu) {
    byte[] text = (ptx + "\0").getBytes(StandardCharsets.US_ASCII);
    nvPTXCompilerHandle compiler = new nvPTXCompilerHandle();
    int created = JNvPTXCompiler.nvPTXCompilerCreate(compiler, text.length, text);
    assertThat(created).isEqualTo(nvPTXCompileResult.NVPTXCOMPILE_SUCCESS);
    try {
      String[] options = {"--gpu-name=" + gpu, "--opt-level=0"};
      int result = JNvPTXCompiler.nvPTXCompilerCompile(compiler, options.length, options);
      if (result == nvPTXCompileResult.NVPTXCOMPILE_SUCCESS) {
        return "";
      }
      long[] size = new long[1];
      JNvPTXCompiler.nvPTXCompilerGetErrorLogSize(compiler, size);
      byte[] log = new byte[(int) size[0] + 1];
      JNvPTXCompiler.nvPTXCompilerGetErrorLog(compiler, log);
      return "result %d: %s".formatted(result, new String(log, StandardCharsets.US_ASCII).trim());
    } finally {
      JNvPTXCompiler.nvPTXCompilerDestroy(compiler);
    }
  }
}
