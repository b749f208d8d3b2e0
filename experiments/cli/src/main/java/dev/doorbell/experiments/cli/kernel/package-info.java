/** {@code doorbell kernel}: what an author does with a kernel, outside of experiments. */
@NullMarked
package dev.doorbell.experiments.cli.kernel;

import org.jspecify.annotations.NullMarked;
