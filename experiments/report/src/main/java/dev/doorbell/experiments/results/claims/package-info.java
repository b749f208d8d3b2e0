/**
 * Claims about GPU-initiated communication as data, and what evaluates them: closed forms,
 * experiments that are run for them, bug cases that are explored. A claim ends as reproduced, not
 * reproduced, or not testable here with the reason; none is left out.
 */
@NullMarked
package dev.doorbell.experiments.results.claims;

import org.jspecify.annotations.NullMarked;
