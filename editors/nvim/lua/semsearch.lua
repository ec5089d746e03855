--- Search by meaning with the program semsearch. Hits go to the quickfix list, or to vim.ui.select.
---
--- vim.g.semsearch_command = { "semsearch" }   the program, and arguments before its command
--- vim.g.semsearch_options = { "-k", "20" }    options of `semsearch query` and `semsearch similar`

local M = {}

local newest = 0 -- an answer to an older question is dropped

local function message(text, level)
  text = vim.trim(text)
  if text ~= "" then
    vim.notify(text, level)
  end
end

--- Choose a hit of the quickfix list, and go there.
local function pick(title, hits)
  local function shown(hit)
    return ("%s:%d: %s"):format(hit.filename, hit.lnum, hit.text)
  end
  vim.ui.select(hits, { prompt = title, format_item = shown }, function(_, number)
    if number then
      vim.cmd("cc " .. number)
    end
  end)
end

--- Put the hits into a new quickfix list, and show them.
local function show(title, lines, options)
  local hits = {}
  for _, line in ipairs(lines) do -- 'errorformat' would expand $ in names of files
    local path, row, column, text = line:match("^(.-):(%d+):(%d+):(.*)$")
    if path then
      table.insert(hits, { filename = path, lnum = tonumber(row), col = tonumber(column), text = text })
    end
  end
  vim.fn.setqflist({}, " ", { title = title, items = hits })
  if options.pick then
    pick(title, hits)
  else
    vim.cmd("botright copen")
  end
end

--- Run semsearch in the current folder, without a shell and without waiting; `arguments` follow the options.
local function run(command, arguments, title, options)
  local words = vim.list_extend({}, vim.g.semsearch_command or { "semsearch" })
  vim.list_extend(words, { command, "--format", "vimgrep" })
  vim.list_extend(words, vim.g.semsearch_options or {})
  vim.list_extend(vim.list_extend(words, { "--" }), arguments)
  newest = newest + 1
  local mine, out, err = newest, {}, {}
  local started, problem = pcall(vim.fn.jobstart, words, {
    cwd = vim.fn.getcwd(),
    stdin = "null",
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, lines) out = lines end,
    on_stderr = function(_, lines) err = lines end,
    on_exit = function(_, status)
      if mine ~= newest then
        return
      end
      local hits = vim.tbl_filter(function(line) return line ~= "" end, out)
      if #hits > 0 then
        show(title, hits, options)
      end
      local level = status > 1 and vim.log.levels.ERROR or vim.log.levels.WARN
      message(table.concat(err, "\n"), level)
    end,
  })
  if not started then
    message(("semsearch: cannot run %s (%s); set vim.g.semsearch_command"):format(words[1], problem), vim.log.levels.ERROR)
  end
end

--- Search for a question; an empty one is asked for. `options.pick`: offer the hits to choose from.
function M.query(question, options)
  if question and vim.trim(question) ~= "" then
    return run("query", { question }, "semsearch: " .. question, options or {})
  end
  vim.ui.input({ prompt = "Search for: " }, function(typed)
    if typed and vim.trim(typed) ~= "" then
      M.query(typed, options)
    end
  end)
end

--- Search for passages similar to the one at the cursor's line of an indexed file.
function M.similar(options)
  local path = vim.fn.expand("%:p")
  if path == "" then
    return message("semsearch: this buffer has no file", vim.log.levels.ERROR)
  end
  local place = ("%s:%d"):format(path, vim.fn.line("."))
  run("similar", { place }, "semsearch: similar to " .. vim.fn.fnamemodify(place, ":."), options or {})
end

return M
