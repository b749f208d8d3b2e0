package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A Linux that runs as a program of this machine.
 *
 * @param build script that makes it
 * @param run script that runs a command in it
 * @param tools programs that {@code run}, the peer and its compilation start
 * @param packages Debian's packages that have the tools
 * @param bootSeconds how long a machine may take to boot it that does much else
 * @param ackTimeout the exponent that suits its speed: 4.096 us * 2^ackTimeout
 */
record GuestKind(
    String build,
    String run,
    List<String> tools,
    String packages,
    int bootSeconds,
    int ackTimeout) {

  /** What the peer program is compiled with, and what its library finds Soft-RoCE by. */
  private static final List<String> FILES =
      List.of("/usr/include/infiniband/verbs.h", "/etc/libibverbs.d/rxe.driver");

  /** 1.1 s: its clock ticks every 10 ms, and a busy machine does not always run it. */
  static final GuestKind UML =
      new GuestKind(
          "build-uml.sh",
          "run-uml.sh",
          List.of("gcc", "busybox", "ip", "rdma"),
          "gcc busybox-static iproute2 libibverbs-dev",
          300,
          18);

  /** 0.5 s: an emulated processor shares ours with us. */
  static final GuestKind QEMU =
      new GuestKind(
          "build-qemu.sh",
          "run-qemu.sh",
          List.of("qemu-system-x86_64", "gcc", "busybox", "ip", "rdma"),
          "qemu-system-x86 gcc busybox-static iproute2 libibverbs-dev",
          600,
          17);

  private static final Path SCRIPTS = Path.of("src", "guest").toAbsolutePath();

  static Path script(String name) {
    return SCRIPTS.resolve(name);
  }

  /** Why this guest cannot run here and the command that changes that; empty when it can. */
  String obstacle() throws IOException, InterruptedException {
    List<String> missing = new ArrayList<>();
    for (String tool : tools) {
      if (!isProgram(tool)) {
        missing.add(tool);
      }
    }
    for (String file : FILES) {
      if (!Files.exists(Path.of(file))) {
        missing.add(file);
      }
    }
    if (!missing.isEmpty()) {
      return "missing: %s; apt-get install %s".formatted(String.join(", ", missing), packages);
    }
    Process where = new ProcessBuilder(script(build).toString(), "--where").start();
    String made = new String(where.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(where.waitFor()).isZero();
    return Files.exists(Path.of(made))
        ? ""
        : "the guest is not built; run host-runtime/soft-hca/src/guest/" + build;
  }

  private static boolean isProgram(String name) {
    String path = Objects.requireNonNullElse(System.getenv("PATH"), "") + ":/usr/sbin:/sbin";
    return Arrays.stream(path.split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }
}
