package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.problem.Typed;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CommandTreeTest {
  private static final String PROGRAM = "doorbell.program";

  /** Messages name the program as it was started; {@link Typed} has to list the commands for it. */
  @Test
  void each_command_is_printed_as_its_user_types_it() {
    List<String> commands =
        Stream.of(CommandTree.of().getSubcommands().keySet(), CommandTree.LAUNCHER.keySet())
            .flatMap(Collection::stream)
            .toList();
    System.setProperty(PROGRAM, "./db");
    try {
      assertThat(commands)
          .isNotEmpty()
          .allSatisfy(
              command ->
                  assertThat(Typed.in("see doorbell " + command)).isEqualTo("see ./db " + command));
    } finally {
      System.clearProperty(PROGRAM);
    }
  }
}
