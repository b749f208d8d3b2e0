package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** The peer program in a guest: one line asks, one line answers. */
final class GuestPeer implements AutoCloseable {
  private static final String CLOSED = "the guest has ended";
  private static final int ANSWER_SECONDS = 300;

  private final Process process;
  private final BufferedWriter in;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final StringBuilder log = new StringBuilder();

  private GuestPeer(Process process) {
    this.process = process;
    this.in =
        new BufferedWriter(
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    Thread reader = new Thread(this::read, "guest output");
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        answers.add(line.strip());
      }
    } catch (IOException _) {
      // The guest is gone; the next command says so.
    }
    answers.add(CLOSED);
  }

  /** Compiles the peer program into {@code folder}. */
  static Path compile(Path folder) throws IOException, InterruptedException {
    Path program = folder.resolve("peer");
    Process compiler =
        new ProcessBuilder(
                "gcc",
                "-O2",
                "-Wall",
                "-o",
                program.toString(),
                GuestKind.script("peer.c").toString(),
                "-libverbs")
            .redirectErrorStream(true)
            .start();
    String said = new String(compiler.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(compiler.waitFor()).as(said).isZero();
    return program;
  }

  /** Boots a guest whose cable ends at UDP port {@code port}, and starts the peer in it. */
  static GuestPeer start(GuestKind kind, int port, Path peer) throws IOException {
    ProcessBuilder guest =
        new ProcessBuilder(
                GuestKind.script(kind.run()).toString(),
                "--cable",
                Integer.toString(port),
                GuestKind.script("peer.sh").toString(),
                peer.toString())
            .redirectErrorStream(true);
    // For all tests together; what hangs is found by the time that each answer may take.
    guest.environment().put("DOORBELL_GUEST_SECONDS", "3600");
    return new GuestPeer(guest.start());
  }

  /**
   * Waits for a line that {@code wanted} starts; what the kernel says before is kept for messages.
   *
   * @param meanwhile called again and again until then
   */
  void await(String wanted, int seconds, BooleanSupplier meanwhile) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (true) {
      String line = take(deadline, meanwhile);
      if (line.startsWith(wanted)) {
        return;
      }
      log.append(line).append('\n');
      assertThat(line).as("the guest says\n%s", log).isNotEqualTo(CLOSED).doesNotStartWith("error");
    }
  }

  /** Whether the guest comes up; {@link #log} has what it said. */
  boolean boots(int seconds, BooleanSupplier meanwhile) {
    try {
      await("booted", seconds, meanwhile);
      return true;
    } catch (AssertionError _) {
      return false;
    }
  }

  String log() {
    return log.toString();
  }

  private String take(long deadline, BooleanSupplier meanwhile) {
    try {
      while (System.nanoTime() < deadline) {
        String line = answers.poll();
        if (line != null) {
          return line;
        }
        if (!meanwhile.getAsBoolean()) {
          Thread.sleep(1);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new AssertionError("the guest did not answer in time; before it said\n" + log);
  }

  /** Sends a command and waits for its answer, while {@code meanwhile} keeps our end alive. */
  String ask(BooleanSupplier meanwhile, String line) {
    tell(line);
    String answer = take(System.nanoTime() + TimeUnit.SECONDS.toNanos(ANSWER_SECONDS), meanwhile);
    assertThat(answer).as("answer to '%s'", line).doesNotStartWith("error").isNotEqualTo(CLOSED);
    return answer;
  }

  private void tell(String line) {
    try {
      in.write(line);
      in.write('\n');
      in.flush();
    } catch (IOException e) {
      throw new AssertionError("the guest has ended; before it said\n" + log, e);
    }
  }

  @Override
  public void close() {
    try {
      in.write("quit\n");
      in.flush();
      if (process.waitFor(20, TimeUnit.SECONDS)) {
        return;
      }
    } catch (IOException _) {
      // It is gone already.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
