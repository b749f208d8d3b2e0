package dev.doorbell.experiments.workbench.kernel;

import dev.doorbell.core.problem.Problem;
import dev.doorbell.experiments.kernels.UserKernel;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/** What the command line does with a kernel outside of experiments. */
public interface KernelWorkbench {
  /** Finds the workbench of this build. */
  static KernelWorkbench find() {
    return ServiceLoader.load(KernelWorkbench.class)
        .findFirst()
        .orElseThrow(() -> new IllegalStateException("no KernelWorkbench is on the class path"));
  }

  /** A template for new kernels. */
  record Template(String name, String description) {}

  /** Returns the templates, by name. */
  List<Template> templates();

  /** Returns the names that a new kernel must not have. */
  List<String> takenNames();

  /**
   * Returns the files of a new kernel by name.
   *
   * @param folder where they will lie, as its README spells it
   * @param compile the command that compiles it again
   */
  SequencedMap<String, String> instantiate(
      String template, String name, String folder, String compile);

  /** Returns the options of nvcc for kernels, except include folder and files. */
  List<String> compilerFlags();

  /** Reports on a PTX file without running it. */
  KernelReport check(String file, String ptx);

  /** Returns the library whose headers a kernel was compiled with, and its version. */
  Optional<String> library(UserKernel kernel);

  /** Returns the mismatches between a descriptor and its PTX. */
  List<Problem> checkAbi(UserKernel kernel);

  /**
   * Runs a kernel whose entry and arguments have been checked against its {@link #check report}.
   *
   * @param interrupted polled during the run; stops it
   */
  KernelOutcome run(KernelRun run, BooleanSupplier interrupted);

  /**
   * Lists a module as the virtual machine sees it.
   *
   * @param source gives the lines of a source file by its {@code .file} name and line number, or an
   *     empty text
   */
  List<String> disassemble(String file, String ptx, Source source);

  /** Lines of source files. */
  interface Source {
    /** Returns the lines of the file, from 1; empty texts where unknown. */
    IntFunction<String> lines(String file);
  }
}
