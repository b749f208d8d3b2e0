/** Worlds in which whole programs run: against an adversary, or in virtual time. */
@NullMarked
package dev.doorbell.experiments.workbench.programs;

import org.jspecify.annotations.NullMarked;
