/**
 * Declarations of a kind of points, and the one runner that runs all of them: it reads the
 * settings, launches and awaits trials, verifies, and collects the result. It depends on no kind.
 */
@NullMarked
package dev.doorbell.experiments.scenario.kind;

import org.jspecify.annotations.NullMarked;
