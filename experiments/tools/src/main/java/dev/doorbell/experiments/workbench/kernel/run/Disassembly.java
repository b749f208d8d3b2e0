package dev.doorbell.experiments.workbench.kernel.run;

import dev.doorbell.experiments.workbench.kernel.KernelWorkbench;
import dev.doorbell.ptxvm.ir.Function;
import dev.doorbell.ptxvm.ir.Instruction;
import dev.doorbell.ptxvm.ir.Operand.Register;
import dev.doorbell.ptxvm.ir.PtxModule;
import dev.doorbell.ptxvm.ir.SourceLine;
import dev.doorbell.ptxvm.ir.Variable;
import dev.doorbell.ptxvm.listing.FunctionListing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * A module as text: functions, blocks with where they lead, instructions with the slots that they
 * read and write, the source lines they come from, and loops that poll.
 */
final class Disassembly {
  private final PtxModule module;
  private final KernelWorkbench.Source sources;
  private final Map<String, IntFunction<String>> files = new HashMap<>();
  private final List<String> out = new ArrayList<>();

  Disassembly(PtxModule module, KernelWorkbench.Source sources) {
    this.module = module;
    this.sources = sources;
  }

  List<String> lines() {
    out.add(
        "%s   PTX ISA %s   target %s".formatted(module.name(), module.version(), module.target()));
    for (FunctionListing listing : FunctionListing.of(module)) {
      function(listing);
    }
    return out;
  }

  private void function(FunctionListing listing) {
    Function function = listing.function();
    out.add("");
    out.add(
        "%s %s(%s)   line %d, %d instructions, %d registers in %d slots"
            .formatted(
                function.entry() ? "entry" : "func",
                function.name(),
                function.parameters().stream()
                    .map(Disassembly::parameter)
                    .collect(Collectors.joining(", ")),
                function.line(),
                function.code().size(),
                function.registers().size(),
                listing.slots().count()));
    SourceLine last = SourceLine.NONE;
    for (FunctionListing.Block block : listing.blocks()) {
      out.add(
          "B%d:%s%s"
              .formatted(
                  block.number(),
                  block.successors().isEmpty()
                      ? ""
                      : block.successors().stream()
                          .map(successor -> "B" + successor)
                          .collect(Collectors.joining(" ", "  -> ", "")),
                  heads(listing, block)));
      for (int i = block.first(); i < block.end(); i++) {
        Instruction instruction = function.code().get(i);
        last = source(instruction.source(), last);
        out.add(instruction(listing, i, instruction));
      }
    }
  }

  private static String parameter(Variable variable) {
    return ".%s %s%s"
        .formatted(
            variable.type().ptx(),
            variable.name(),
            variable.bytes() == variable.type().bytes() ? "" : "[" + variable.bytes() + " B]");
  }

  private static String heads(FunctionListing listing, FunctionListing.Block block) {
    StringJoiner text = new StringJoiner("");
    for (FunctionListing.Polling loop : listing.loops()) {
      if (loop.head() == block.number()) {
        text.add(
            "   polling loop, closed by line %d, %s%s"
                .formatted(
                    listing.function().code().get(loop.branch()).line(),
                    loop.kind().pure() ? "pure" : "with side effects",
                    loop.kind().watchesClock() ? ", watches a clock" : ", without a clock"));
      }
    }
    return text.toString();
  }

  private SourceLine source(SourceLine now, SourceLine last) {
    SourceLine own = now.own();
    if (own.isEmpty() || (own.file().equals(last.file()) && own.line() == last.line())) {
      return last;
    }
    String text = files.computeIfAbsent(own.file(), sources::lines).apply(own.line()).strip();
    out.add("  ; " + now + (text.isEmpty() ? "" : "   " + text));
    return own;
  }

  private String instruction(FunctionListing listing, int index, Instruction instruction) {
    String text = module.text(instruction.line()).replaceAll("\\s+", " ");
    boolean polls = listing.loops().stream().anyMatch(loop -> loop.branch() == index);
    return "  %5d %s %-46s  %s"
        .formatted(
            instruction.line(),
            polls ? "P" : " ",
            text.isEmpty() ? instruction.opcode() : text,
            slots(listing, instruction))
        .stripTrailing();
  }

  private static String slots(FunctionListing listing, Instruction instruction) {
    String read = slots(listing, FunctionListing.read(instruction));
    String written = slots(listing, FunctionListing.written(instruction));
    return written.isEmpty() ? read : (read.isEmpty() ? "" : read + " ") + "-> " + written;
  }

  private static String slots(FunctionListing listing, Set<Register> registers) {
    return registers.stream()
        .map(register -> "s" + listing.slots().of(register))
        .collect(Collectors.joining(" "));
  }
}
