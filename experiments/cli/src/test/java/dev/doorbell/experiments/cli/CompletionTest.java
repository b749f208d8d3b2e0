package dev.doorbell.experiments.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.doorbell.experiments.cli.command.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The scripts are run by the shells that they are for. */
class CompletionTest {
  @TempDir private Path folder;
  private final Session session = new Session();

  private Path script(String shell) throws IOException {
    assertThat(session.type("completion", shell)).isEqualTo(ExitCode.OK);
    return Files.writeString(folder.resolve("doorbell." + shell), session.out());
  }

  /** What bash offers for the last word, when Tab is pressed behind it. */
  private List<String> bash(String... words) throws IOException, InterruptedException {
    String array = String.join(" ", Arrays.stream(words).map(word -> "'" + word + "'").toList());
    return run(
        "bash",
        "--norc",
        "-c",
        // There is no line being typed whose completion compopt could change.
        "compopt() { :; }; source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_doorbell; printf '%%s\\n' \"${COMPREPLY[@]}\""
            .formatted(script("bash"), array, words.length - 1));
  }

  private static boolean installed(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(place -> Files.isExecutable(Path.of(place, program)));
  }

  private List<String> run(String... command) throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.directory(folder.toFile());
    builder.environment().put("HOME", folder.toString());
    Process process = builder.start();
    process.getOutputStream().close();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(text).isZero();
    return text.lines().map(String::strip).toList();
  }

  @Test
  void bash_completes_commands() throws Exception {
    assertThat(bash("doorbell", "d")).contains("demo", "describe", "decode", "doctor");
    assertThat(bash("doorbell", "")).contains("run", "completion", "test", "bundle");
    assertThat(bash("doorbell", "kernel", "")).contains("new", "check", "build");
    assertThat(bash("doorbell", "paper", "")).contains("new", "verify");
  }

  @Test
  void bash_completes_options_and_names() throws Exception {
    assertThat(bash("doorbell", "doctor", "--ex")).containsExactly("--explain");
    assertThat(bash("doorbell", "run", "pull")).contains("pull-vs-push");
    assertThat(bash("doorbell", "doctor", "--explain", "DB-NVREG-0"))
        .containsExactly("DB-NVREG-01", "DB-NVREG-02", "DB-NVREG-03");
  }

  @Test
  void zsh_completes_commands_at_its_prompt() throws Exception {
    assumeTrue(installed("zsh"), "no zsh on PATH; apt-get install zsh");
    Path script = script("zsh");
    Path driver =
        Files.writeString(
            folder.resolve("driver.zsh"),
            """
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell 'unsetopt beep; PS1=; TERM=dumb; autoload -U compinit; compinit -u'
            zpty -w shell 'source %s; print read''y'
            zpty -r shell line '*ready*'
            zpty -w -n shell $'doorbell descri\\t'
            zpty -r shell line '*describe*' && print completed
            zpty -d shell
            """
                .formatted(script));
    assertThat(run("timeout", "60", "zsh", "-f", driver.toString())).contains("completed");
  }

  @Test
  void another_shell_is_refused_with_the_ones_there_are() {
    assertThat(session.type("completion", "bahs")).isEqualTo(ExitCode.USAGE);
    assertThat(session.err())
        .isEqualTo(
            """
            DB-U074  no completion for 'bahs'  - did you mean 'bash'?
              fix     one of bash, zsh
            """);
  }
}
