package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelVerification;
import dev.doorbell.experiments.config.kernel.KernelStructure;
import dev.doorbell.experiments.config.kernel.NumberType;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.workbench.kernel.KernelWorkbench.KernelReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks whether a descriptor and the PTX that it describes say the same. */
public final class AbiCheck {
  /** Fields that hold addresses; the others are numbers, of 4 or 8 bytes as the kernel likes. */
  private static final Set<String> ADDRESSES =
      Set.of(
          "queue_pairs",
          "job",
          "local",
          "remote",
          "samples",
          "status",
          "inbox",
          "staging",
          "staging_wire",
          "stamps",
          "signals",
          "peers");

  private static final int REGISTERS = 65536;

  private AbiCheck() {}

  /** Everything that does not fit, with the descriptor's line and column. */
  public static List<Problem> of(UserKernel kernel, KernelReport report) {
    List<Problem> problems = new ArrayList<>();
    KernelDescriptor descriptor = kernel.descriptor();
    if (!report.unsupported().isEmpty()) {
      KernelReport.Line first = report.unsupported().getFirst();
      problems.add(
          Problem.of(
                  "DB-K002",
                  descriptor.place("/ptx"),
                  "%s cannot be loaded: %d %s, the first is line %d, %s"
                      .formatted(
                          kernel.ptxFile(),
                          report.unsupported().size(),
                          report.unsupported().size() == 1
                              ? "line is refused"
                              : "lines are refused",
                          first.line(),
                          first.what()))
              .effect("kernel '%s' cannot be used".formatted(kernel.name()))
              .fix("doorbell kernel check %s lists them".formatted(kernel.ptxFile())));
      return problems;
    }
    checkIsa(descriptor, report, problems);
    KernelReport.Entry entry = entry(report, descriptor.entry());
    if (entry == null) {
      problems.add(
          noEntry(kernel, report, descriptor.entry(), "/entry")
              .effect("kernel '%s' cannot be used".formatted(kernel.name())));
      return problems;
    }
    checkParameters(descriptor, entry, problems);
    checkVerifier(kernel, report, problems);
    checkRegisters(descriptor, entry, problems);
    if (entry.dynamicShared() && descriptor.launch().sharedBytes() == 0) {
      problems.add(
          Problem.of(
                  "DB-K012",
                  descriptor.place("/launch"),
                  "the entry reads extern .shared memory, and launch.shared is 0")
              .fix("launch: { shared: BYTES }"));
    }
    return problems;
  }

  /** The entry that verifies takes as many parameters as the descriptor names. */
  private static void checkVerifier(
      UserKernel kernel, KernelReport report, List<Problem> problems) {
    if (!(kernel.descriptor().extension().verification().orElse(null)
        instanceof KernelVerification.Entry verifier)) {
      return;
    }
    KernelReport.Entry entry = entry(report, verifier.name());
    if (entry == null) {
      problems.add(
          noEntry(kernel, report, verifier.name(), "/verify/entry")
              .effect("nobody would verify what kernel '%s' leaves".formatted(kernel.name())));
    } else {
      checkCount(kernel.descriptor(), "/verify/parameters", entry, verifier.parameters(), problems);
    }
  }

  /** Returns whether an entry takes as many parameters as are named for it. */
  private static boolean checkCount(
      KernelDescriptor descriptor,
      String pointer,
      KernelReport.Entry entry,
      List<String> given,
      List<Problem> problems) {
    boolean equal = entry.parameters().size() == given.size();
    if (!equal) {
      problems.add(
          Problem.of(
                  "DB-K012",
                  descriptor.place(pointer),
                  "entry %s takes %d parameters, and %d are given: %s"
                      .formatted(
                          entry.name(),
                          entry.parameters().size(),
                          given.size(),
                          String.join(", ", given)))
              .fix("name one for each, in order"));
    }
    return equal;
  }

  private static KernelReport.@Nullable Entry entry(KernelReport report, String name) {
    return report.entries().stream()
        .filter(candidate -> candidate.name().equals(name))
        .findFirst()
        .orElse(null);
  }

  private static Problem noEntry(
      UserKernel kernel, KernelReport report, String wanted, String pointer) {
    List<String> names = report.entries().stream().map(KernelReport.Entry::name).toList();
    String near = Nearest.suggestion(wanted, names);
    return Problem.of(
        "DB-K003",
        kernel.descriptor().place(pointer),
        "%s has no entry '%s'%s"
            .formatted(
                kernel.ptxFile(),
                wanted,
                near.isEmpty() ? "  - it has " + String.join(", ", names) : near));
  }

  private static boolean isAddress(KernelDescriptor descriptor, String bound) {
    if (structure(descriptor, bound).isPresent()) {
      return true;
    }
    boolean brought = descriptor.extension().names().contains(bound);
    return brought
        ? descriptor.extension().settings().stream()
            .noneMatch(setting -> setting.name().equals(bound))
        : ADDRESSES.contains(bound);
  }

  private static Optional<KernelStructure> structure(KernelDescriptor descriptor, String name) {
    return descriptor.structures().stream().filter(one -> one.name().equals(name)).findFirst();
  }

  private static void checkIsa(
      KernelDescriptor descriptor, KernelReport report, List<Problem> problems) {
    descriptor
        .isa()
        .filter(isa -> number(isa) < number(report.isa()))
        .ifPresent(
            isa ->
                problems.add(
                    Problem.of(
                            "DB-K012",
                            descriptor.place("/isa"),
                            "isa is %s, and %s says .version %s"
                                .formatted(isa, descriptor.ptx(), report.isa()))
                        .effect("drivers that know isa %s would refuse it".formatted(isa))
                        .fix("isa: \"%s\", or lower .version".formatted(report.isa()))));
  }

  /** Values that live at once have to fit the registers of a multiprocessor, for all threads. */
  private static void checkRegisters(
      KernelDescriptor descriptor, KernelReport.Entry entry, List<Problem> problems) {
    long live = (long) entry.slots() * Math.max(1, descriptor.launch().threads());
    if (live > REGISTERS) {
      problems.add(
          Problem.of(
                  "DB-K012",
                  descriptor.place("/launch/threads"),
                  "%d values live at once in each of %d threads, and a multiprocessor has %,d registers"
                      .formatted(entry.slots(), descriptor.launch().threads(), REGISTERS))
              .effect("a GPU refuses the launch")
              .fix("fewer threads, or __launch_bounds__ in the .cu, which spills"));
    }
  }

  private static int number(String isa) {
    String[] parts = isa.split("\\.", -1);
    return Integer.parseInt(parts[0]) * 100 + (parts.length > 1 ? Integer.parseInt(parts[1]) : 0);
  }

  private static void checkParameters(
      KernelDescriptor descriptor, KernelReport.Entry entry, List<Problem> problems) {
    List<String> bound = descriptor.parameters();
    List<KernelReport.Parameter> parameters = entry.parameters();
    if (!checkCount(descriptor, "/parameters", entry, bound, problems)) {
      return;
    }
    for (int i = 0; i < bound.size(); i++) {
      long bytes = parameters.get(i).bytes();
      String name = bound.get(i);
      if (!fits(descriptor, name, bytes)) {
        problems.add(
            Problem.of(
                "DB-K012",
                descriptor.place("/parameters/" + i),
                "%s does not fit parameter %d of %s, which has %d bytes (.%s)"
                    .formatted(name, i, entry.name(), bytes, parameters.get(i).type())));
      }
    }
  }

  private static boolean fits(KernelDescriptor descriptor, String name, long bytes) {
    Optional<KernelStructure> passed = structure(descriptor, name).filter(KernelStructure::byValue);
    if (passed.isPresent()) {
      return bytes == passed.get().layout(1, 1).bytes();
    }
    if (isAddress(descriptor, name)) {
      return bytes == Long.BYTES;
    }
    if (name.endsWith(Protocol.KEY)) {
      return bytes == Integer.BYTES;
    }
    return descriptor.extension().settings().stream()
        .filter(setting -> setting.name().equals(name))
        .findFirst()
        .map(KernelSetting::type)
        .map(type -> bytes == type.bytes() || (type == NumberType.U32 && bytes == Long.BYTES))
        .orElse(bytes == Integer.BYTES || bytes == Long.BYTES);
  }
}
