package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.Refusal;
import dev.doorbell.ptxvm.ir.SourceLine;
import dev.doorbell.ptxvm.ir.Variable.StateSpace;
import dev.doorbell.ptxvm.launch.PtxCheck;
import dev.doorbell.ptxvm.listing.FunctionListing;
import dev.doorbell.ptxvm.parser.PtxParser;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Checks of kernels outside of experiments. */
public final class KernelWorkbench {
  private static final Set<String> STRONG = Set.of("relaxed", "acquire", "volatile", "mmio");

  private KernelWorkbench() {}

  /**
   * A report on a PTX file, made without running it.
   *
   * @param file as given
   * @param isa its {@code .version}
   * @param target its {@code .target}
   * @param unsupported everything that prevents loading
   * @param notes constructs that are legal but often mistakes
   */
  public record KernelReport(
      String file,
      String isa,
      String target,
      List<Entry> entries,
      List<Line> unsupported,
      List<Line> notes) {

    /**
     * An entry.
     *
     * @param file that it stands in, of those that were linked
     * @param registers that its code names
     * @param slots that the virtual machine keeps them in
     * @param sharedBytes static shared memory
     * @param dynamicShared it reads shared memory whose size the launch gives
     * @param localBytes local variables of a thread
     */
    public record Entry(
        String name,
        String file,
        int line,
        List<Parameter> parameters,
        long parameterBytes,
        int registers,
        int slots,
        long sharedBytes,
        boolean dynamicShared,
        long localBytes,
        int instructions) {}

    /** A parameter with its declared type. */
    public record Parameter(String name, String type, long offset, long bytes) {}

    /**
     * Something about a line.
     *
     * @param file that it stands in, of those that were linked
     * @param line of that file, from 1
     * @param source where it comes from, or empty
     */
    public record Line(String file, int line, String text, String what, String source) {}
  }

  /** Reports on a PTX file without running it. */
  public static KernelReport check(String file, String ptx) {
    PtxParser.Result parsed = PtxParser.parse(file, ptx);
    PtxModule module = parsed.module();
    PtxCheck.Result result = PtxCheck.of(parsed);
    List<FunctionListing> listings = FunctionListing.of(module);
    List<KernelReport.Line> notes = new ArrayList<>(external(module));
    notes.addAll(notes(module, listings));
    for (Refusal stop : result.stops()) {
      notes.add(line(module, stop, stop.reason() + ": a thread that gets here stops the kernel"));
    }
    return new KernelReport(
        file,
        module.version(),
        module.target(),
        Entries.of(module, listings),
        result.refusals().stream().map(refusal -> line(module, refusal, refusal.reason())).toList(),
        notes);
  }

  private static KernelReport.Line line(PtxModule module, Refusal refusal, String what) {
    PtxModule.Place place = module.place(refusal.line());
    return new KernelReport.Line(
        place.file(), place.line(), refusal.text(), what, refusal.source().toString());
  }

  static KernelReport.Line line(PtxModule module, int line, String what, SourceLine source) {
    PtxModule.Place place = module.place(line);
    return new KernelReport.Line(
        place.file(), place.line(), module.text(line), what, source.toString());
  }

  /** Variables of other files, which nothing here initialises. */
  private static List<KernelReport.Line> external(PtxModule module) {
    return module.variables().stream()
        .filter(variable -> variable.external() && variable.space() != StateSpace.SHARED)
        .map(
            variable ->
                line(
                    module,
                    lineOf(module, variable.name()),
                    "'%s' is defined in another file: it is zero unless the host fills it"
                        .formatted(variable.name()),
                    SourceLine.NONE))
        .toList();
  }

  private static int lineOf(PtxModule module, String word) {
    for (int line = 1; line <= module.lines().size(); line++) {
      if (module.text(line).contains(word)) {
        return line;
      }
    }
    return 1;
  }

  /** Loops that poll and never look at a clock wait for ever for what does not come. */
  private static List<KernelReport.Line> notes(PtxModule module, List<FunctionListing> listings) {
    List<KernelReport.Line> notes = new ArrayList<>();
    for (FunctionListing listing : listings) {
      for (FunctionListing.Polling loop : listing.loops()) {
        if (!watchesClock(listing, loop)
            && loop.kind().pure()
            && waits(listing, loop)
            && !counts(listing, loop)) {
          Instruction branch = listing.function().code().get(loop.branch());
          notes.add(
              line(
                  module,
                  branch.line(),
                  "this loop polls memory and reads no clock: it has no deadline",
                  branch.source()));
        }
      }
    }
    return notes;
  }

  /**
   * A loop that loads from the same address again and again. One around a compare-and-swap goes
   * round only when somebody else got on, and one whose address moves is a search.
   */
  private static boolean waits(FunctionListing listing, FunctionListing.Polling loop) {
    List<Instruction> body =
        loop.body().stream().mapToObj(index -> listing.function().code().get(index)).toList();
    Set<Register> written =
        body.stream()
            .flatMap(instruction -> FunctionListing.written(instruction).stream())
            .collect(Collectors.toSet());
    return body.stream()
        .filter(KernelWorkbench::isStrongLoad)
        .anyMatch(load -> FunctionListing.read(load).stream().noneMatch(written::contains));
  }

  /** A loop that goes round as often as a constant says: a register is added to and compared. */
  private static boolean counts(FunctionListing listing, FunctionListing.Polling loop) {
    List<Instruction> body =
        loop.body().stream().mapToObj(index -> listing.function().code().get(index)).toList();
    Instruction.Guard guard = listing.function().code().get(loop.branch()).guard();
    return guard != null
        && body.stream()
            .filter(instruction -> instruction.name().equals("setp") && hasNumber(instruction))
            .filter(compare -> FunctionListing.written(compare).contains(guard.predicate()))
            .flatMap(compare -> FunctionListing.read(compare).stream())
            .anyMatch(register -> isCounter(register, body));
  }

  private static boolean hasNumber(Instruction instruction) {
    return instruction.operands().stream().anyMatch(Operand.Int.class::isInstance);
  }

  private static boolean isCounter(Register register, List<Instruction> body) {
    List<Instruction> writers =
        body.stream()
            .filter(instruction -> FunctionListing.written(instruction).contains(register))
            .toList();
    return !writers.isEmpty()
        && writers.stream()
            .allMatch(
                writer ->
                    writer.name().equals("add")
                        && writer.guard() == null
                        && hasNumber(writer)
                        && FunctionListing.read(writer).contains(register));
  }

  /** Back edges to the same head are one loop: some rounds may look at the clock, others not. */
  private static boolean watchesClock(FunctionListing listing, FunctionListing.Polling loop) {
    return listing.loops().stream()
        .anyMatch(other -> other.head() == loop.head() && other.kind().watchesClock());
  }

  private static boolean isStrongLoad(Instruction instruction) {
    return instruction.name().equals("ld")
        && instruction.modifiers().stream().anyMatch(STRONG::contains);
  }

  /** Returns the mismatches between a descriptor and its PTX. */
  public static List<Problem> checkAbi(UserKernel kernel) {
    List<Problem> problems =
        new ArrayList<>(AbiCheck.of(kernel, check(kernel.ptxFile(), kernel.ptx())));
    if (problems.isEmpty()) {
      problems.addAll(
          StructureCheck.of(
              kernel.descriptor(), PtxParser.parse(kernel.ptxFile(), kernel.ptx()).module()));
    }
    return problems;
  }
}
