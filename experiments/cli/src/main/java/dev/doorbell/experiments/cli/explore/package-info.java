/** {@code doorbell explore}: kernels, bug cases and litmus tests against the adversary. */
@NullMarked
package dev.doorbell.experiments.cli.explore;

import org.jspecify.annotations.NullMarked;
