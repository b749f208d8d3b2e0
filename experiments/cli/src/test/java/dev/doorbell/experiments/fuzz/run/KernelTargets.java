package dev.doorbell.experiments.fuzz.run;

import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import dev.doorbell.kernels.KernelCatalogue;
import dev.doorbell.ptxvm.launch.PtxCheck;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.List;

/** PTX, parsed and linked as for a launch. */
public final class KernelTargets {
  private static final List<byte[]> WORDS =
      Mutator.bytes(
          ".reg .b64 %rd<1000000>;",
          ".b128",
          ".v4",
          ".param",
          ".shared",
          "0xffffffffffffffff",
          "[8589934592]",
          "call",
          "bra",
          "ret;",
          "generic(",
          ".loc 1 1 1",
          "0f7fffffff",
          "@!%p1",
          "/*",
          "{",
          "}",
          ".entry k() {",
          ".extern .func f();",
          ".align 3",
          "mov.u32 %r1, ");

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
                "ptx",
                "PTX of kernels",
                () ->
                    List.of(
                        Seeds.file("language.ptx"),
                        Seeds.file("posts.ptx"),
                        Seeds.bytes(
                            KernelCatalogue.load()
                                .ptx(KernelCatalogue.load().find("host_move").orElseThrow()))),
                WORDS,
                input ->
                    PtxCheck.of(PtxParser.parse("fuzz.ptx", Seeds.text(input))).refusals().isEmpty()
                        ? Outcome.ACCEPTED
                        : Outcome.REFUSED)
            .slow());
  }
}
