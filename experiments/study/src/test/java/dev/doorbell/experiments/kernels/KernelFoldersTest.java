package dev.doorbell.experiments.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.doorbell.core.problem.Problem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where kernels are found, and which are passed over. */
class KernelFoldersTest {
  @TempDir private Path folder;

  private void write(String path, String kernel) throws IOException {
    Path file = folder.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "kernel: %s\ndescription: d\nmeasures: nothing\n".formatted(kernel));
    Files.writeString(file.resolveSibling(kernel + ".ptx"), "// " + kernel);
  }

  private KernelFolders.Found scan(String... taken) {
    return KernelFolders.scan(List.of(folder), List.of(taken));
  }

  @Test
  void descriptors_are_found_in_the_folder_and_right_below_it() throws IOException {
    write("b.kernel.yaml", "b");
    write("sub/a.kernel.yaml", "a");
    write("sub/deeper/c.kernel.yaml", "c");
    Files.writeString(folder.resolve("other.yaml"), "kernel: d");
    assertThat(scan().kernels()).extracting(UserKernel::name).containsExactly("a", "b");
    assertThat(scan().kernels().getFirst().ptx()).isEqualTo("// a");
    assertThat(scan().problems()).isEmpty();
  }

  @Test
  void a_folder_that_is_given_twice_is_read_once() throws IOException {
    write("a.kernel.yaml", "a");
    KernelFolders.Found found =
        KernelFolders.scan(List.of(folder, folder.resolve("x/..")), List.of());
    assertThat(found.kernels()).hasSize(1);
    assertThat(found.problems()).isEmpty();
  }

  @Test
  void names_are_unique_and_not_those_of_the_project() throws IOException {
    write("a/a.kernel.yaml", "same");
    write("b/b.kernel.yaml", "same");
    write("c/c.kernel.yaml", "put_latency");
    KernelFolders.Found found = scan("put_latency");
    assertThat(found.kernels()).extracting(UserKernel::name).containsExactly("same");
    assertThat(found.problems())
        .extracting(Problem::code, Problem::where)
        .containsExactly(
            tuple("DB-K013", folder.resolve("b/b.kernel.yaml") + ":1:9"),
            tuple("DB-K013", folder.resolve("c/c.kernel.yaml") + ":1:9"));
  }

  @Test
  void one_broken_kernel_does_not_hide_the_others() throws IOException {
    write("a/a.kernel.yaml", "a");
    Files.writeString(folder.resolve("broken.kernel.yaml"), "kernel: [\n");
    Files.writeString(
        folder.resolve("bare.kernel.yaml"), "kernel: bare\ndescription: d\nmeasures: nothing\n");
    KernelFolders.Found found = scan();
    assertThat(found.kernels()).extracting(UserKernel::name).containsExactly("a");
    assertThat(found.problems()).extracting(Problem::code).containsExactly("DB-K014", "DB-C002");
    assertThat(found.problems().getFirst().what()).endsWith("bare.ptx");
  }

  @Test
  void a_folder_that_is_not_there_holds_nothing() {
    assertThat(KernelFolders.scan(List.of(folder.resolve("no")), List.of()).kernels()).isEmpty();
  }
}
