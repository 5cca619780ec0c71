# Every figure of a study, out of its tidy table alone:
#
#     Rscript analyse.R STUDY.csv [--phase revealed] [--by model]
#
# It prints JSON of the same shape as `data` of `repoassay review figures STUDY --json`, and beside it, as `mixed_model`, a
# logistic mixed model of being mergeable, where lme4 is installed. Needs the package jsonlite; else base R.
# Change it as you like.

suppressPackageStartupMessages(library(jsonlite))
options(digits = 17, warn = 1)
Z <- qnorm(0.975)
`%or%` <- function(x, y) if (is.null(x) || length(x) == 0) y else x
null <- function(x) if (length(x) == 0 || is.na(x) || is.infinite(x)) NULL else x
ends <- function(low = NULL, high = NULL, n = 0) list(low = low, high = high, n = n)
counted <- function(answers) list(successes = sum(answers), n = length(answers))
figure <- function(value, n) list(value = value, n = n)
# Lists that R would write as an object, or as null, where they are empty.
lines_of <- function(x) if (length(x)) unname(x) else list()
object <- function(x) if (length(x)) x else setNames(list(), character())

# ---- Draws of Python's random.Random(0): the same Mersenne Twister, which R keeps in .Random.seed.

python_seed <- function() {
  word <- function(x) x %% 2^32
  times <- function(a, b) word(word((a %/% 65536) * b) * 65536 + (a %% 65536) * b)
  mixed <- function(x, y) { # exclusive or of words of 32 bits
    bitwXor(x %/% 65536, y %/% 65536) * 65536 + bitwXor(x %% 65536, y %% 65536)
  }
  state <- numeric(624)
  state[1] <- 19650218
  for (i in 2:624) {
    before <- mixed(state[i - 1], state[i - 1] %/% 2^30)
    state[i] <- word(times(1812433253, before) + i - 1)
  }
  i <- 2
  for (step in 1:624) {
    before <- mixed(state[i - 1], state[i - 1] %/% 2^30)
    state[i] <- mixed(state[i], times(before, 1664525)) # the key is the one word 0
    i <- i + 1
    if (i > 624) { state[1] <- state[624]; i <- 2 }
  }
  for (step in 1:623) {
    before <- mixed(state[i - 1], state[i - 1] %/% 2^30)
    state[i] <- word(mixed(state[i], times(before, 1566083941)) - (i - 1))
    i <- i + 1
    if (i > 624) { state[1] <- state[624]; i <- 2 }
  }
  state[1] <- 2^31
  signed <- ifelse(state >= 2^31, state - 2^32, state)
  signed[signed == -2^31] <- NA # how R keeps that word
  RNGkind("Mersenne-Twister")
  assign(".Random.seed", as.integer(c(10403L, 624L, signed)), envir = globalenv())
}
python_words <- function(count) round(runif(count) / 2.3283064365386963e-10)

# ---- Intervals and tests

# A mean over all values and its standard error by task; NULL where tasks do not tell it.
mean_error <- function(tasks) {
  values <- unlist(tasks)
  count <- length(tasks)
  if (count < 2) return(NULL)
  apart <- vapply(tasks, function(task) sum(task - mean(values)), 0)
  if (max(abs(apart)) <= 1e-12 * (max(values) - min(values)) * length(values)) return(NULL)
  list(mean = mean(values), error = sqrt(sum(apart^2) * count / (count - 1)) / length(values), apart = apart)
}

# How many independent observations the tasks' values are worth (Korn and Graubard); three quarters are believed of
# what runs add to one observation a task. With `normal` it is for an interval that goes by the normal quantile.
independent <- function(tasks, variance, pairs = 0, normal = FALSE) {
  count <- length(tasks)
  found <- mean_error(tasks)
  if (is.null(found) || variance <= 0) return(count)
  most <- max(length(unlist(tasks)), pairs)
  number <- 1 + variance / found$error^2
  if (number > count) number <- count + 0.75 * (number - count)
  other <- if (normal && most > count) Z else qt(0.975, most - 1)
  min(most, number * (other / qt(0.975, count - 1))^2)
}

share_by_task <- function(tasks) {
  if (!length(tasks)) return(ends())
  values <- unlist(tasks)
  share <- mean(values)
  number <- independent(lapply(tasks, as.numeric), share * (1 - share))
  hits <- share * number
  low <- if (share == 0) 0 else qbeta(0.025, hits, number - hits + 1)
  high <- if (share == 1) 1 else qbeta(0.975, hits + 1, number - hits)
  ends(low, high, length(tasks))
}

bisect <- function(holds, low, high) {
  if (holds(high)) return(high)
  for (step in 1:100) {
    middle <- (low + high) / 2
    if (holds(middle)) low <- middle else high <- middle
  }
  low
}

# Tango's score interval of as many pairs as tasks are worth.
difference_by_task <- function(tasks, pairs = 0) {
  if (!length(tasks)) return(ends())
  values <- unlist(tasks)
  above <- mean(pmax(values, 0))
  below <- mean(pmax(-values, 0))
  seen <- above - below
  number <- independent(tasks, above + below - seen^2, pairs, TRUE)
  accepted <- function(difference) {
    linear <- (2 - seen) * difference - above - below
    alone <- (sqrt(max(0, linear^2 + 8 * below * difference * (1 - difference))) - linear) / 4
    number * (seen - difference)^2 <= Z^2 * max(0, 2 * alone + difference * (1 - difference))
  }
  ends(bisect(accepted, seen, -1), bisect(accepted, seen, 1), length(tasks))
}

# The two-sided sign-flip test that a mean is zero: exact where 2^20 steps do, else of 10,000 draws.
sign_flips <- function(sums, n) {
  if (!length(sums)) return(list(p_value = NULL, statistic = NULL, n = 0))
  widest <- max(abs(sums))
  steps <- if (widest > 0) round(sums[sums != 0] / widest * 2^40) else numeric()
  reached <- abs(sum(steps)) - length(steps)
  totals <- 0
  counts <- 1
  work <- 0
  for (step in steps) {
    work <- work + length(totals)
    if (work > 2^20) break
    both <- c(totals + step, totals - step)
    totals <- unique(both)
    counts <- as.vector(tapply(c(counts, counts), match(both, totals), sum))
  }
  p_value <- sum(counts[abs(totals) >= reached]) / sum(counts)
  if (work > 2^20) {
    python_seed()
    size <- length(steps)
    chunks <- ceiling(size / 32)
    extreme <- 0
    for (draw in 1:10000) {
      # getrandbits: the lowest 32 bits come first, and of the last word its highest bits.
      words <- python_words(chunks)
      words[chunks] <- words[chunks] %/% 2^(32 * chunks - size)
      kept <- c(rep(32, chunks - 1), size - 32 * (chunks - 1))
      low_first <- unlist(Map(function(word, bits) (word %/% 2^(0:(bits - 1))) %% 2, words, kept))
      extreme <- extreme + (abs(2 * sum(steps[rev(low_first) == 1]) - sum(steps)) >= reached)
    }
    p_value <- (extreme + 1) / 10001
  }
  list(p_value = p_value, statistic = sum(sums) / n, n = length(sums))
}

fisher <- function(first, second) {
  n <- first$n + second$n
  if (!first$n || !second$n) return(list(p_value = NULL, statistic = NULL, n = n))
  cells <- matrix(c(first$successes, first$n - first$successes, second$successes, second$n - second$successes), 2)
  apart <- first$successes / first$n - second$successes / second$n
  list(p_value = fisher.test(cells)$p.value, statistic = apart, n = n)
}

agresti_min <- function(b, c, n) {
  if (!n) return(ends())
  x <- b + 0.5
  y <- c + 0.5
  size <- n + 2
  half <- Z * sqrt(max(0, x + y - (x - y)^2 / size)) / size
  ends(max(-1, (x - y) / size - half), min(1, (x - y) / size + half), n)
}

# Student's interval of a mean by task.
student <- function(tasks) {
  found <- mean_error(tasks)
  if (is.null(found)) return(ends(n = length(tasks)))
  half <- qt(0.975, length(tasks) - 1) * found$error
  ends(found$mean - half, found$mean + half, length(tasks))
}

# Hall's interval of the mean of minutes by task, which are skewed and never below 0.
skewed_mean <- function(tasks) {
  count <- length(tasks)
  found <- mean_error(tasks)
  if (is.null(found) || count < 3) return(ends(n = count))
  lean <- mean(found$apart^3) / mean(found$apart^2)^1.5 / (3 * sqrt(count))
  root <- function(x) sign(x) * abs(x)^(1 / 3)
  moved <- function(quantile) {
    wanted <- quantile - lean / 2
    if (abs(lean) < 1e-9) wanted else (root(1 + 3 * lean * wanted) - 1) / lean
  }
  edge <- qt(0.975, max(count / 2, 1))
  ends(max(0, found$mean - moved(edge) * found$error), found$mean - moved(-edge) * found$error, count)
}

# Woodruff's interval: the values of which the share below, and the share above, may be one half.
median_by_task <- function(tasks) {
  values <- sort(unique(unlist(tasks)))
  if (!length(values)) return(ends())
  above <- vapply(values, function(edge) share_by_task(lapply(tasks, function(task) task > edge))$low, 0)
  below <- vapply(values, function(edge) share_by_task(lapply(tasks, function(task) task < edge))$low, 0)
  low <- min(which(above <= 0.5))
  ends(values[low], values[max(low, which(below <= 0.5))], length(tasks))
}

# Python's random.sample of `size` places of `n`.
python_sample <- function(n, size) {
  below <- function(limit) {
    bits <- floor(log2(limit)) + 1
    repeat {
      drawn <- python_words(1) %/% 2^(32 - bits)
      if (drawn < limit) return(drawn)
    }
  }
  few <- 21 + if (size > 5) 4^ceiling(log(size * 3, 4)) else 0
  if (n > few) {
    chosen <- numeric()
    while (length(chosen) < size) {
      place <- below(n) + 1
      if (!place %in% chosen) chosen <- c(chosen, place)
    }
    return(chosen)
  }
  pool <- seq_len(n)
  vapply(seq_len(size), function(i) {
    place <- below(n - i + 1) + 1
    found <- pool[place]
    pool[place] <<- pool[n - i + 1]
    as.numeric(found)
  }, 0)
}

# The two-sided permutation test of two means: exact up to 50,000 splits, else of 10,000 draws.
two_samples <- function(first, second) {
  every <- c(first, second)
  size <- length(first)
  n <- length(every)
  if (!size || size == n) return(list(p_value = NULL, statistic = NULL, n = n))
  apart <- function(places) (sum(every) - sum(every[places])) / (n - size) - sum(every[places]) / size
  seen <- apart(seq_len(size))
  edge <- abs(seen) - 1e-12 * max(1, abs(every))
  if (choose(n, size) <= 50000) {
    p_value <- mean(combn(n, size, function(places) abs(apart(places)) >= edge))
  } else {
    python_seed()
    hits <- vapply(1:10000, function(draw) abs(apart(python_sample(n, size))) >= edge, TRUE)
    p_value <- (sum(hits) + 1) / 10001
  }
  list(p_value = p_value, statistic = seen, n = n)
}

# ---- Agreement. Units are rows of a matrix with a column for each rater.

coefficients <- function(units, order, ordinal) {
  counts <- t(apply(units, 1, function(unit) table(factor(unit, levels = order))))
  if (length(order) == 1) counts <- matrix(counts, ncol = 1)
  counts <- counts[rowSums(counts) > 0, , drop = FALSE]
  size <- length(order)
  paired <- counts[rowSums(counts) > 1, , drop = FALSE]
  n <- nrow(paired)
  found <- list(percent = figure(NULL, n), alpha = figure(NULL, n), chance_free = figure(NULL, n))
  if (!n) return(found)
  given <- rowSums(paired)
  found$percent <- figure(mean(rowSums(paired * (paired - 1)) / (given * (given - 1))), n)
  totals <- colSums(paired)
  middle <- cumsum(totals) - totals / 2
  distance <- if (ordinal) outer(middle, middle, "-")^2 else 1 - diag(size)
  apart <- function(unit) sum(outer(unit, unit) * distance)
  if (sum(totals > 0) > 1) {
    observed <- sum(apply(paired, 1, apart) / (given - 1))
    found$alpha <- figure(1 - observed / (apart(totals) / (sum(totals) - 1)), n)
  }
  if (size > 1) {
    steps <- abs(outer(seq_len(size), seq_len(size), "-"))
    weight <- if (ordinal) 1 - choose(steps + 1, 2) / choose(size, 2) else diag(size)
    near <- mean(rowSums(paired * (paired %*% weight - 1)) / (given * (given - 1)))
    shares <- colMeans(counts / rowSums(counts))
    chance <- sum(weight) / (size * (size - 1)) * sum(shares * (1 - shares))
    found$chance_free <- figure((near - chance) / (1 - chance), n)
  }
  found
}

# Each rater against the unique most frequent answer of the others.
baseline <- function(units) {
  pairs <- rep(list(logical()), ncol(units))
  tied <- 0
  for (row in seq_len(nrow(units))) for (rater in seq_len(ncol(units))) {
    own <- units[row, rater]
    others <- sort(table(units[row, -rater]), decreasing = TRUE)
    if (is.na(own) || !length(others)) next
    if (length(others) > 1 && others[[1]] == others[[2]]) tied <- tied + 1
    else pairs[[rater]] <- c(pairs[[rater]], names(others)[1] == own)
  }
  share <- function(mine) figure(if (length(mine)) mean(mine), length(mine))
  list(raters = lines_of(lapply(pairs, share)), overall = share(unlist(pairs)), tied = tied)
}

# Jackknife intervals over tasks, on the scale log(1 - coefficient).
agreement <- function(key, units, tasks, order, ordinal = FALSE) {
  whole <- coefficients(units, order, ordinal)
  names_of_tasks <- unique(tasks)
  count <- length(names_of_tasks)
  left <- lapply(names_of_tasks, function(task) coefficients(units[tasks != task, , drop = FALSE], order, ordinal))
  found <- list(key = key, baseline = baseline(units))
  for (name in names(whole)) {
    values <- lapply(c(list(whole), left), function(each) each[[name]]$value)
    known <- unlist(lapply(values, function(value) if (!is.null(value) && value < 1) log(1 - value)))
    found[[name]] <- whole[[name]]
    at <- ends(n = count)
    if (count >= 8 && length(known) > count) {
      error <- sqrt(sum((known[-1] - mean(known[-1]))^2) * (count - 1) / count)
      half <- qt(0.975, count - 1) * error
      if (error > 0) at <- ends(max(-1, 1 - exp(known[1] + half)), 1 - exp(known[1] - half), count)
    }
    found[[paste0(name, "_interval")]] <- at
  }
  found
}

# ---- The table

arguments <- commandArgs(trailingOnly = TRUE)
option <- function(name, otherwise) {
  at <- match(name, arguments)
  if (is.na(at)) otherwise else arguments[at + 1]
}
phase <- option("--phase", "blind")
by <- option("--by", "system")
table_of <- read.csv(arguments[1], colClasses = "character", na.strings = "", check.names = FALSE, encoding = "UTF-8")
# An apostrophe guards what a spreadsheet would run as a formula.
table_of[] <- lapply(table_of, function(cells) sub("^'", "", cells))
is_record <- function(name) table_of[table_of$record == name, , drop = FALSE]
head_row <- is_record("study")[1, ]
settings <- fromJSON(head_row$answer, simplifyVector = FALSE)
rubric <- settings$rubric
axes <- vapply(rubric$axes, function(axis) axis$key, "")
scales <- setNames(lapply(rubric$axes, function(axis) if (length(axis$scale)) axis$scale else rubric$scale), axes)
roles <- lapply(scales, function(s) setNames(vapply(s, function(l) l$role %or% "level", ""), vapply(s, function(l) l$key, "")))
levels_of <- lapply(scales, function(s) setNames(vapply(s, function(l) l$value %or% NA_real_, 0), vapply(s, function(l) l$key, "")))
items <- is_record("item")
answers <- is_record("answer")
answers <- answers[answers$rater_role != "judge" & (phase == "revealed" | answers$phase == "blind"), ]
newest <- ave(as.integer(answers$version), paste(answers$item, answers$rater), FUN = max)
answers <- answers[as.integer(answers$version) == newest, ]
ratings <- answers[!duplicated(answers$rating), ]
ratings <- ratings[order(ratings$item, ratings$rater, method = "radix"), ]
yes <- c(yes = TRUE, no = FALSE)
form <- function(key, asked) {
  mine <- answers[answers$asked == asked & answers$axis == key, ]
  mine$answer[match(ratings$rating, mine$rating)]
}
ratings$minutes <- as.numeric(form("minutes", "form"))
ratings$would_merge <- unname(yes[form("would_merge", "form")])
ratings$mergeable <- unname(yes[form("mergeable", "derived")])
ratings$active <- as.numeric(ratings$seconds)
states <- vapply(axes, function(axis) form(axis, "axis"), character(nrow(ratings)))
states <- matrix(states, ncol = length(axes), dimnames = list(NULL, axes))
settled <- is_record("adjudication")
settled <- settled[!duplicated(paste(settled$item, settled$axis), fromLast = TRUE), ]

# What raters' states of one axis of one item come to; NA while that is open.
label <- function(item, axis) {
  decided <- settled$answer[settled$item == item & settled$axis == axis]
  if (length(decided)) return(decided)
  given <- states[ratings$item == item, axis]
  given <- given[!is.na(given)]
  chosen <- given[roles[[axis]][given] != "unsure"]
  if (2 * length(chosen) <= length(given)) return(NA_character_)
  votes <- sort(table(chosen), decreasing = TRUE)
  if (2 * votes[[1]] > length(chosen)) return(names(votes)[1])
  if (anyNA(levels_of[[axis]])) return(NA_character_)
  if (votes[[2]] < votes[[1]]) return(names(votes)[1])
  chosen[order(levels_of[[axis]][chosen])][(length(chosen) - 1) %/% 2 + 1]
}

derived <- function(labels) {
  if (rubric$rule == "none") return(NA)
  found <- mapply(function(axis, state) if (is.na(state)) NA_character_ else roles[[axis]][[state]], axes, labels)
  if (any(found == "problem", na.rm = TRUE)) return(FALSE)
  applicable <- found[is.na(found) | found != "not_applicable"]
  if (length(applicable) && !anyNA(applicable) && all(applicable == "clear")) TRUE else NA
}

if (!nrow(ratings)) stop("The table has no answers of this phase.", call. = FALSE)
items <- items[items$item %in% ratings$item, ]
labels <- t(vapply(items$item, function(item) vapply(axes, function(axis) label(item, axis), ""), character(length(axes))))
labels <- matrix(labels, ncol = length(axes), dimnames = list(items$item, axes))
majority <- function(given) {
  given <- given[!is.na(given)]
  if (2 * sum(given) == length(given)) NA else 2 * sum(given) > length(given)
}
middle_of <- function(given) if (any(!is.na(given))) median(given, na.rm = TRUE) else NA
of_item <- function(column, f) vapply(items$item, function(item) f(ratings[[column]][ratings$item == item]), f(NA))
items$passed <- unname(c(passed = TRUE, failed = FALSE)[items$tests])
items$mergeable <- apply(labels, 1, derived)
items$would_merge <- as.logical(of_item("would_merge", majority))
items$minutes <- vapply(items$item, function(item) as.numeric(middle_of(ratings$minutes[ratings$item == item])), 0)
items$human <- as.numeric(items$human_minutes)
both_names <- function(agent, model) paste(c(agent, model)[!is.na(c(agent, model))], collapse = " ")
items$named <- if (by == "system") {
  ifelse(is.na(items$system), mapply(both_names, items$agent, items$model), items$system)
} else items[[by]]
items$named[is.na(items$named) | items$named == ""] <- "not known"
items$out <- ifelse(is.na(items$excluded), items$flagged, items$excluded)
excluded <- setNames(as.list(items$out[!is.na(items$out)]), items$item[!is.na(items$out)])
items <- items[is.na(items$out), ]
used <- ratings$item %in% items$item
ratings <- ratings[used, ]
states <- states[used, , drop = FALSE]
submissions <- items[is.na(items$control), ]

# ---- Figures

by_task <- function(rows, key) {
  rows <- rows[!is.na(rows[[key]]), ]
  unname(split(rows[[key]], factor(rows$task, levels = unique(rows$task))))
}
pairs_of <- function(rows, people) rows[!is.na(rows$passed) & !is.na(rows[[people]]), ]

gap <- function(rows, people) {
  kept <- pairs_of(rows, people)
  kept$merged <- kept[[people]]
  kept$apart <- kept$passed - kept$merged
  apart <- by_task(kept, "apart")
  n <- nrow(kept)
  b <- sum(kept$passed & !kept$merged)
  c <- sum(!kept$passed & kept$merged)
  list(
    n = n, left_out = nrow(rows) - n, tests = counted(kept$passed), people = counted(kept$merged),
    both = sum(kept$passed & kept$merged), tests_only = b, people_only = c, neither = sum(!kept$passed & !kept$merged),
    difference = if (n) (b - c) / n, interval = difference_by_task(apart), adjusted = agresti_min(b, c, n),
    test = sign_flips(vapply(apart, sum, 0), n), enough = 6, tests_interval = share_by_task(by_task(kept, "passed")),
    people_interval = share_by_task(by_task(kept, "merged")), tasks = length(apart)
  )
}

minutes <- function(rows) {
  known <- rows[!is.na(rows$minutes), ]
  values <- known$minutes
  n <- length(values)
  tasks <- by_task(known, "minutes")
  both <- known[!is.na(known$human), ]
  list(
    n = n, unknown = nrow(rows) - n, mean = if (n) mean(values), median = if (n) median(values),
    median_interval = median_by_task(tasks), lower = if (n) quantile(values, 0.25, names = FALSE),
    upper = if (n) quantile(values, 0.75, names = FALSE), none = counted(values <= 0),
    none_interval = share_by_task(lapply(tasks, function(task) task <= 0)),
    geometric_mean = figure(if (n && min(values) > 0) exp(mean(log(values))), n),
    minimum = if (n) min(values), maximum = if (n) max(values), interval = skewed_mean(tasks),
    share = figure(if (nrow(both)) sum(both$minutes) / sum(both$human), nrow(both))
  )
}

task_difference <- function(ours, theirs, key) {
  ours <- ours[!is.na(ours[[key]]), ]
  theirs <- theirs[!is.na(theirs[[key]]), ]
  common <- sort(intersect(ours$task, theirs$task), method = "radix")
  apart <- vapply(common, function(t) mean(ours[[key]][ours$task == t]) - mean(theirs[[key]][theirs$task == t]), 0)
  runs <- sum(vapply(common, function(t) min(sum(ours$task == t), sum(theirs$task == t)), 0))
  values <- as.list(unname(apart))
  list(
    tasks = length(common), difference = if (length(common)) mean(apart),
    interval = if (key == "minutes") student(values) else difference_by_task(values, runs),
    test = sign_flips(unname(apart), length(apart))
  )
}

groups <- split(submissions, factor(submissions$named, levels = sort(unique(submissions$named), method = "radix")))
differences <- list()
if (length(groups) > 1) differences <- combn(names(groups), 2, simplify = FALSE, FUN = function(pair) {
  both <- function(key) task_difference(groups[[pair[1]]], groups[[pair[2]]], key)
  list(
    first = pair[1], second = pair[2], mergeable = both("mergeable"), would_merge = both("would_merge"),
    tests = both("passed"), minutes_to_fix = both("minutes")
  )
})
holm <- function(key) {
  p_values <- vapply(differences, function(pair) pair[[key]]$test$p_value %or% NA_real_, 0)
  p.adjust(p_values, "holm", sum(!is.na(p_values)))
}
differences <- Map(
  function(pair, p, other) c(pair, list(adjusted = null(p), would_merge_adjusted = null(other), mixed = NULL)),
  differences, holm("mergeable"), holm("would_merge")
)

problem_share <- function(found) counted(found[!is.na(found) & found %in% c("problem", "clear")] == "problem")
role_of <- function(axis, state) unname(roles[[axis]][state])
failures <- lapply(axes[vapply(axes, function(axis) "problem" %in% roles[[axis]], TRUE)], function(axis) {
  found <- role_of(axis, labels[submissions$item, axis])
  failing <- problem_share(found[submissions$passed %in% FALSE])
  passing <- problem_share(found[submissions$passed %in% TRUE])
  list(
    axis = axis, failing = failing, passing = passing, pooled = problem_share(found),
    not_applicable = sum(found == "not_applicable", na.rm = TRUE), open = sum(is.na(found) | found == "unsure"),
    test = fisher(failing, passing)
  )
})
is_problem <- vapply(axes, function(axis) role_of(axis, labels[submissions$item, axis]) %in% "problem", logical(nrow(submissions)))
number <- rowSums(matrix(is_problem, ncol = length(axes)))
problems <- list(counts = object(as.list(table(number))), n = length(number), total = sum(number))

controls <- function() {
  of_kind <- function(kept) by_task(items[kept, ], "would_merge")
  good <- of_kind(items$control %in% "good")
  rest <- of_kind(is.na(items$control))
  found <- list(
    good = counted(unlist(good)), bad = counted(unlist(of_kind(items$control %in% "bad"))),
    submissions = counted(unlist(rest))
  )
  n <- found$submissions$n
  if (!n || !found$good$n || !found$good$successes) return(c(found, list(normalised = figure(NULL, n), interval = ends(n = n))))
  top <- found$submissions$successes / n
  bottom <- found$good$successes / found$good$n
  own <- share_by_task(rest)
  other <- share_by_task(good)
  limit <- function(sign, x, y) { # Donner and Zou
    under <- max(0, (top * bottom)^2 - x * y * (2 * top - x) * (2 * bottom - y))
    (top * bottom + sign * sqrt(under)) / (y * (2 * bottom - y))
  }
  at <- ends(max(0, limit(-1, own$low, other$high)), limit(1, own$high, other$low), n)
  c(found, list(normalised = figure(top / bottom, n), interval = at))
}

rated_items <- sort(unique(ratings$item), method = "radix")
people <- sort(unique(ratings$rater), method = "radix")
units_of <- function(values) {
  found <- matrix(NA_character_, length(rated_items), length(people))
  found[cbind(match(ratings$item, rated_items), match(ratings$rater, people))] <- as.character(values)
  found
}
tasks_of_units <- items$task[match(rated_items, items$item)]
agreements <- lapply(axes, function(axis) {
  known <- names(roles[[axis]])[roles[[axis]] != "unsure"]
  ordinal <- !anyNA(levels_of[[axis]])
  if (ordinal) known <- known[order(levels_of[[axis]][known])]
  agreement(axis, units_of(ifelse(states[, axis] %in% known, states[, axis], NA)), tasks_of_units, known, ordinal)
})
asked_too <- c(
  if (rubric$rule != "none") "mergeable",
  if ("would_merge" %in% vapply(rubric$questions, function(q) q$key, "")) "would_merge"
)
agreements <- c(agreements, lapply(asked_too, function(key) {
  agreement(key, units_of(ratings[[key]]), tasks_of_units, c("TRUE", "FALSE"))
}))

roles_given <- matrix(vapply(axes, function(axis) role_of(axis, states[, axis]), character(nrow(ratings))), ncol = length(axes))
part <- function(kept) list(
  problems = problem_share(as.vector(roles_given[kept, ])),
  accepted = counted(ratings$would_merge[kept][!is.na(ratings$would_merge[kept])]),
  active_seconds = if (any(kept)) median(ratings$active[kept])
)
beside <- function(rater) {
  found <- list(differences = numeric(), agreed = logical())
  for (row in which(ratings$rater == rater)) for (axis in seq_along(axes)) {
    same <- ratings$item == ratings$item[row] & ratings$rater != rater
    if (is.na(states[row, axis]) || !any(same)) next
    votes <- sort(table(states[same, axis]), decreasing = TRUE)
    if (length(votes) && 2 * votes[[1]] > sum(votes)) found$agreed <- c(found$agreed, names(votes)[1] == states[row, axis])
    others <- roles_given[same, axis]
    others <- others[others %in% c("problem", "clear")]
    own <- roles_given[row, axis]
    if (length(others) && own %in% c("problem", "clear")) {
      found$differences <- c(found$differences, (own == "problem") - mean(others == "problem"))
    }
  }
  found
}
severity <- lapply(people, function(rater) {
  mine <- ratings$rater == rater
  found <- beside(rater)
  given <- ratings$minutes[mine & !is.na(ratings$minutes)]
  c(list(rater = rater, ratings = sum(mine)), part(mine), list(
    minutes = if (length(given)) mean(given), fast = sum(ratings$active[mine] < 0.25 * median(ratings$active)),
    beside_others = figure(if (length(found$differences)) mean(found$differences), length(found$differences)),
    with_majority = counted(found$agreed)
  ))
})
strictness <- vapply(severity, function(each) each$beside_others$value %or% 0, 0)
severity <- severity[order(-strictness, people, method = "radix")]

halves <- lapply(people, function(rater) {
  mine <- which(ratings$rater == rater)
  mine <- mine[order(as.integer(ratings$queue_position[mine]))]
  half <- length(mine) %/% 2
  list(first = head(mine, half), second = tail(mine, half))
})
at_half <- function(name) seq_len(nrow(ratings)) %in% unlist(lapply(halves, function(each) each[[name]]))
rate <- function(places) { share <- problem_share(as.vector(roles_given[places, ])); share$successes / share$n }
shifts <- vapply(halves, function(each) rate(each$second) - rate(each$first), 0)
shifts <- shifts[!is.na(shifts)]
order_effects <- list(first = part(at_half("first")), second = part(at_half("second")), test = sign_flips(shifts, length(shifts)))

# Each rater's first ratings beside the last: problems beside the others', and answers to controls.
problem_rate <- vapply(seq_len(nrow(ratings)), rate, 0)
drift_of <- function(rater) {
  mine <- which(ratings$rater == rater)
  mine <- mine[order(ratings$submitted_at[mine], ratings$rating[mine], method = "radix")]
  beside <- vapply(mine, function(row) {
    same <- ratings$item == ratings$item[row] & ratings$rater != rater & !is.na(problem_rate)
    if (any(same)) problem_rate[row] - mean(problem_rate[same]) else NA_real_
  }, 0)
  merges <- ifelse(is.na(ratings$would_merge[mine]), ratings$mergeable[mine], ratings$would_merge[mine])
  right <- as.numeric(merges == (ratings$control[mine] == "good"))
  lapply(list(severity = beside, controls = right), function(values) {
    values <- values[!is.na(values)]
    half <- length(values) %/% 2
    first <- head(values, half)
    last <- tail(values, half)
    list(
      before = if (half) mean(first), after = if (half) mean(last), test = two_samples(first, last)
    )
  })
}
drift <- unlist(lapply(people, function(rater) {
  found <- drift_of(rater)
  Map(function(measure, each) c(list(rater = rater, measure = measure), each), names(found), found)
}), recursive = FALSE)
drift_p <- vapply(drift, function(each) each$test$p_value %or% NA_real_, 0)
drift_adjusted <- p.adjust(drift_p, "holm", sum(!is.na(drift_p)))
drift <- Map(function(each, p) c(each, list(adjusted = null(p), alarm = isTRUE(p < 0.05))), drift, drift_adjusted)

# ---- A logistic mixed model beside the test by task: whether a rater finds a submission mergeable, by system, with
# tasks and raters as samples of all tasks and raters.

mixed_model <- function() {
  rows <- ratings[ratings$item %in% submissions$item & !is.na(ratings$mergeable), ]
  rows$named <- submissions$named[match(rows$item, submissions$item)]
  if (!requireNamespace("lme4", quietly = TRUE)) return(list(undefined = "lme4 is not installed"))
  if (length(unique(rows$named)) < 2 || length(unique(rows$mergeable)) < 2) return(list(undefined = "nothing to compare"))
  effects <- c("(1 | task)", if (length(unique(rows$rater)) > 1) "(1 | rater)")
  formula <- as.formula(paste("mergeable ~ named +", paste(effects, collapse = " + ")))
  fitted <- tryCatch(
    suppressMessages(suppressWarnings(lme4::glmer(formula, data = rows, family = binomial))),
    error = function(reason) NULL
  )
  if (is.null(fitted)) return(list(undefined = "the model cannot be fitted"))
  terms <- coef(summary(fitted))
  list(
    term = rownames(terms), estimate = terms[, "Estimate"], error = terms[, "Std. Error"],
    p_value = terms[, "Pr(>|z|)"], n = nrow(rows)
  )
}

python_time <- function(given, between = "T") sub("(\\.\\d+)?Z$", "\\1+00:00", sub("T", between, given))
frozen <- settings$plan$frozen
document <- list(
  study = head_row$study, phase = phase, by = by, plan_hash = null(head_row$plan_hash) %or% "",
  plan_frozen = if (is.null(frozen)) "" else python_time(frozen),
  amendments = lapply(settings$plan$amendments, function(a) { a$at <- python_time(a$at, " "); a }),
  items = nrow(items), ratings = nrow(ratings), excluded = object(excluded), gap = gap(submissions, "mergeable"),
  asked = gap(submissions, "would_merge"),
  systems = lines_of(lapply(names(groups), function(name) list(
    name = name, gap = gap(groups[[name]], "mergeable"), asked = gap(groups[[name]], "would_merge"),
    minutes = minutes(groups[[name]])
  ))),
  differences = lines_of(differences), failures = lines_of(failures), problems = problems,
  minutes = list(
    all = minutes(submissions), passing = minutes(submissions[submissions$passed %in% TRUE, ]),
    failing = minutes(submissions[submissions$passed %in% FALSE, ])
  ),
  controls = controls(), agreement = lines_of(agreements), severity = lines_of(severity), order = order_effects,
  drift = lines_of(drift),
  mixed_model = mixed_model()
)
cat(toJSON(document, auto_unbox = TRUE, digits = NA, null = "null", na = "null", pretty = TRUE), "\n")
