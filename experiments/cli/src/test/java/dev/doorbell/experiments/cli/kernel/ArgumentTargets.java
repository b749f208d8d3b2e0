package dev.doorbell.experiments.cli.kernel;

import dev.doorbell.experiments.cli.command.UsageException;
import dev.doorbell.experiments.fuzz.FuzzTarget;
import dev.doorbell.experiments.fuzz.FuzzTarget.Outcome;
import dev.doorbell.experiments.fuzz.Mutator;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;

/** Texts of {@code --arg} and {@code --dump}. */
public final class ArgumentTargets {
  /** Arguments that name files, or ask for memory as a user may. */
  private static final Pattern COSTLY = Pattern.compile("(?s).*(/|\\.|[0-9]{7}|[MGmg]).*");

  /** Returns the targets. */
  public List<FuzzTarget> targets() {
    return List.of(
        FuzzTarget.of(
            "argument",
            "texts of --arg and --dump",
            () ->
                Mutator.bytes(
                    "u32:5",
                    "s64:-1",
                    "f16:1e3",
                    "zero:64",
                    "hex:00_ff",
                    "multicast:4x64",
                    "1:u32"),
            Mutator.bytes("0x", "inout:", "value:", "99x", "f64:", "_"),
            input -> {
              // The system ends an argument at a NUL.
              String text = new String(input, StandardCharsets.UTF_8).replace("\0", "");
              return COSTLY.matcher(text).matches() ? Outcome.REFUSED : read(text);
            }));
  }

  private static Outcome read(String text) {
    try {
      KernelDump.parse(text, 3);
    } catch (UsageException _) {
      // Few texts are both.
    }
    try {
      KernelArguments.parse(text);
      return Outcome.ACCEPTED;
    } catch (UsageException _) {
      return Outcome.REFUSED;
    }
  }
}
