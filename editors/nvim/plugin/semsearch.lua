-- :Semsearch[!] QUESTION and :SemsearchSimilar[!]; with ! the hits are offered to choose from.

if vim.g.loaded_semsearch then
  return
end
vim.g.loaded_semsearch = true

vim.api.nvim_create_user_command("Semsearch", function(given)
  require("semsearch").query(given.args, { pick = given.bang })
end, { nargs = "*", bang = true, desc = "Search by meaning; the hits go to the quickfix list" })

vim.api.nvim_create_user_command("SemsearchSimilar", function(given)
  require("semsearch").similar({ pick = given.bang })
end, { nargs = 0, bang = true, desc = "Passages similar to the one at the cursor's line" })
