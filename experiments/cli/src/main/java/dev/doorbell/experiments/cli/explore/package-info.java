/** {@code doorbell explore}: kernels and bug cases against the adversary. */
@NullMarked
package dev.doorbell.experiments.cli.explore;

import org.jspecify.annotations.NullMarked;
